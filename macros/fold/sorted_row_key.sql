{#-
  A `row_key` with its columns sorted by name, as in a keyless row.  Null if a
  VARIANT cannot hold the key, for example because it has a column twice.
-#}
{% macro sorted_row_key(row_key) -%}
to_json(try_parse_json({{ row_key }}))
{%- endmacro %}
