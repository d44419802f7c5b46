{#-
  Condition that two relations speak of one event in one row of a message, whatever
  its place in the order of events was when they were written.

  one, other: aliases with `source_format`, `event_id`, `topic`, `sequence`.
-#}
{% macro has_place_of(one, other) -%}
{{ one }}.source_format = {{ other }}.source_format
            and {{ one }}.event_id = {{ other }}.event_id
            and {{ one }}.topic = {{ other }}.topic
            and {{ one }}.sequence.`partition` = {{ other }}.sequence.`partition`
            and {{ one }}.sequence.offset = {{ other }}.sequence.offset
            and {{ one }}.sequence.row_index = {{ other }}.sequence.row_index
{%- endmacro %}
