{#-
  A filled row without the values of columns that its table lost, and maybe got
  back, between the event that gave the value and the one that was filled.

  row: image as VARIANT.  sequence: of the event that was filled.
  filled_from: map of columns to the sequences of the events that gave their
  values, null where none before did.
  lost_columns: array of struct<column_name, sequence>, null where there are none.
-#}
{% macro without_lost_values(row, sequence, filled_from, lost_columns) -%}
{%- set is_lost -%}
lost.sequence > {{ filled_from }}[lost.column_name]
                and lost.sequence < {{ sequence }}
{%- endset -%}
case
    when
        {{ filled_from }} is not null
        and exists({{ lost_columns }}, lost -> {{ is_lost }})
        then to_variant_object(map_filter(
            cast({{ row }} as map<string, variant>),
            (name, value) -> not exists(
                {{ lost_columns }},
                lost -> lost.column_name = name and {{ is_lost }}
            )
        ))
    else {{ row }}
end
{%- endmacro %}
