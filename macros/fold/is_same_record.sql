{#-
  Condition that two relations refer to the same event in the same row of a
  message.  A row may have two events: `cdc-marts resync` makes another event of
  each row of the load.

  one, other: aliases with the coordinates of a record and its `event_id`.
-#}
{% macro is_same_record(one, other) -%}
{{ matches(one, other, columns_of_message() + ['row_index', 'event_id']) }}
{%- endmacro %}
