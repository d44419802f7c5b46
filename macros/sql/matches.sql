{% macro matches(
    one, other, columns=['source_format', 'table_id', 'row_key']
) -%}
{%- for column in columns -%}
{{ one }}.{{ column }} = {{ other }}.{{ column }}{{ " and " if not loop.last }}
{%- endfor -%}
{%- endmacro %}
