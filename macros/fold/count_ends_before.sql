{#-
  How many ends of its table come before an event: two events between which
  there is an end differ in it.

  event: alias with `source_format`, `topic`, `sequence`, `event_at`.
  ends: array of struct<sequence, event_at, topic>, null where there are none.
-#}
{% macro count_ends_before(event, ends) -%}
coalesce(size(filter(
    {{ ends }},
    table_end -> not coalesce({{ is_ended_by(event, 'table_end') }}, true)
)), 0)
{%- endmacro %}
