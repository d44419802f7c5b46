{#-
  Condition that two relations speak of one event in one row of a message.  A row
  that a repairing load brings again is another event.

  one, other: aliases with the coordinates of a record and its `event_id`.
-#}
{% macro is_same_record(one, other) -%}
{{ matches(one, other, [
    'source_format', 'topic', '`partition`', 'offset', 'row_index', 'event_id'
]) }}
{%- endmacro %}
