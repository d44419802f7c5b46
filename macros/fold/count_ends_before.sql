{#-
  How many ends of its table come before an event: two events between which
  there is an end differ in it.

  event: alias with `sequence`.
  ends: array of struct<sequence, event_at>, null where there are none.
-#}
{% macro count_ends_before(event, ends) -%}
coalesce(size(filter(
    {{ ends }}, table_end -> not {{ is_ended_by(event, 'table_end') }}
)), 0)
{%- endmacro %}
