{#-
  The `transaction_index` of the rows of a load that repairs a table, and of the
  truncation before them: behind all transactions at the position, one resync
  behind the other.
-#}
{% macro resync_index(resync_number) -%}
(9223372036853775807 + {{ resync_number }})
{%- endmacro %}
