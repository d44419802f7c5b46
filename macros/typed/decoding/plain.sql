{#- The text itself, to be read as the column's type. -#}
{% macro decode_text(text, column) -%}
{{ text }}
{%- endmacro %}


{#- The value itself, objects and arrays whole. -#}
{% macro decode_variant(text, column) -%}
{{ column.value }}
{%- endmacro %}


{#- Each element by the rule of its type; null where one does not fit. -#}
{% macro decode_array(column) -%}
{%- set element = {
    'value': 'element',
    'source_type': column.source_type,
    'parameters': column.parameters,
    'spark_type': column.spark_type[6:-1],
} -%}
{%- set elements = "try_cast(" ~ column.value ~ " as array<variant>)" -%}
{%- set decoded = cdc_marts.read_value(
    'try_cast(element as string)', element, column.decoding, element.spark_type
) -%}
case
    when not exists(
        {{ elements }},
        element -> try_cast(element as string) is not null
        and {{ decoded }} is null
    )
        then transform({{ elements }}, element -> {{ decoded }})
end
{%- endmacro %}
