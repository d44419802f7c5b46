{#-
  Whether a TRUNCATE or DROP TABLE comes after an event of its table: sequences
  compare across partitions.  Null where a statement turned out to mean another
  table.
-#}
{% macro is_truncated_by(event, truncation, sequence='sequence') -%}
{{ event }}.{{ sequence }} < {{ truncation }}.sequence
{%- endmacro %}
