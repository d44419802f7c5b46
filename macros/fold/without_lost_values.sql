{% macro without_lost_values(filled, sequence, lost_columns) -%}
{#- A column whose value the event itself carries gives false, and not null. -#}
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
