{% macro sorted_row_key(row_key) -%}
to_json(try_parse_json({{ row_key }}))
{%- endmacro %}
