{#-
  Condition that two relations speak of one row of one message, whatever its
  place in the order of events was when they were written.

  one, other: aliases with `source_format`, `topic`, `sequence`.
-#}
{% macro has_place_of(one, other) -%}
{{ one }}.source_format = {{ other }}.source_format
            and {{ one }}.topic = {{ other }}.topic
            and {{ one }}.sequence.`partition` = {{ other }}.sequence.`partition`
            and {{ one }}.sequence.offset = {{ other }}.sequence.offset
            and {{ one }}.sequence.row_index = {{ other }}.sequence.row_index
{%- endmacro %}
