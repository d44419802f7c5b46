{% macro without_dropped_columns(row, sequence, lost_columns) -%}
case
    when exists({{ lost_columns }}, lost -> lost.sequence > {{ sequence }})
        then to_variant_object(map_filter(
            cast({{ row }} as map<string, variant>),
            (name, value) -> not exists(
                {{ lost_columns }},
                lost -> lost.column_name = name
                and lost.sequence > {{ sequence }}
            )
        ))
    else {{ row }}
end
{%- endmacro %}
