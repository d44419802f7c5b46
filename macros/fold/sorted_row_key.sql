{#-
  A `row_key` with its columns sorted by name, as a keyless row has them; null where the text
  holds a number that a VARIANT can't.
-#}
{% macro sorted_row_key(row_key) -%}
to_json(try_parse_json({{ row_key }}))
{%- endmacro %}
