{#-
  A `row_key` with its columns sorted by name, as in a keyless row.  Null if the
  text contains a number that a VARIANT cannot hold.
-#}
{% macro sorted_row_key(row_key) -%}
to_json(try_parse_json({{ row_key }}))
{%- endmacro %}
