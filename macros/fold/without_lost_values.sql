{#-
  A filled row without the values of columns that its table lost, and maybe got
  back, between the event that gave the value and the one that was filled.  Such
  a column has the value that an image before told after the loss, if one did.

  filled: alias with the row as VARIANT, null where none was filled, and with
  `filled_from`, `before_values` and `before_values_from` as in `int_filled_rows`.
  sequence: of the event that was filled.
  lost_columns: array of struct<column_name, sequence>, null where there are none.
-#}
{% macro without_lost_values(filled, sequence, lost_columns) -%}
{#- False, not null, of a column with a value of the event itself. -#}
{%- set is_lost -%}
coalesce(lost.sequence > {{ filled }}.filled_from[lost.column_name], false)
                and lost.sequence < {{ sequence }}
{%- endset -%}
{%- set is_lost_again -%}
coalesce(
                        lost.sequence
                        > {{ filled }}.before_values_from[lost.column_name],
                        false
                    )
                    and lost.sequence < {{ sequence }}
{%- endset -%}
case
    when
        {{ filled }}.filled_from is not null
        and exists({{ lost_columns }}, lost -> {{ is_lost }})
        then to_variant_object(map_concat(
            map_filter(
                cast({{ filled }}.`row` as map<string, variant>),
                (name, value) -> not exists(
                    {{ lost_columns }},
                    lost -> lost.column_name = name and {{ is_lost }}
                )
            ),
            map_filter(
                cast(
                    coalesce({{ filled }}.before_values, parse_json('{}'))
                    as map<string, variant>
                ),
                (name, value) -> exists(
                    {{ lost_columns }},
                    lost -> lost.column_name = name and {{ is_lost }}
                )
                and not exists(
                    {{ lost_columns }},
                    lost -> lost.column_name = name and {{ is_lost_again }}
                )
            )
        ))
    else {{ filled }}.`row`
end
{%- endmacro %}
