{#-
  The index is higher than all transaction indexes at the position, and rises
  from one resync to the next.
-#}
{% macro resync_index(resync_number) -%}
(9223372036853775807 + {{ resync_number }})
{%- endmacro %}
