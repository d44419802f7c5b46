{#-
  A row may have two events: `cdc-marts resync` makes another event of each
  row of the load.
-#}
{% macro is_same_record(one, other) -%}
{{ matches(one, other, columns_of_message() + ['row_index', 'event_id']) }}
{%- endmacro %}
