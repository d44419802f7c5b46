{#-
  The `transaction_index` of the rows of a load that repairs a table, and of the
  truncation before them.  It is higher than all transaction indexes at the
  position, and it rises from one resync to the next.
-#}
{% macro resync_index(resync_number) -%}
(9223372036853775807 + {{ resync_number }})
{%- endmacro %}
