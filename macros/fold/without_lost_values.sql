{#-
  A completed row without the values of columns that its table lost, and maybe
  got back, between the event that told them and the one that was completed.

  completed: alias of a row of `int_completed_rows`.  sequence: of its event.
  listings: array of struct<first_sequence, last_sequence, column_names>, the
  shapes of the table; null where messages list no columns.
-#}
{% macro without_lost_values(completed, sequence, listings) -%}
{%- set is_lost -%}
exists(
                    {{ listings }},
                    listing -> not array_contains(listing.column_names, carried.name)
                    and (
                        listing.first_sequence > carried.sequence
                        and listing.first_sequence < {{ sequence }}
                        or listing.last_sequence > carried.sequence
                        and listing.last_sequence < {{ sequence }}
                    )
                )
{%- endset -%}
case
            when exists({{ completed }}.carried_values, carried -> {{ is_lost }})
                then to_variant_object(map_filter(
                    cast({{ completed }}.`row` as map<string, variant>),
                    (name, value) -> not exists(
                        {{ completed }}.carried_values,
                        carried -> carried.name = name and {{ is_lost }}
                    )
                ))
            else {{ completed }}.`row`
        end
{%- endmacro %}
