{#-
  Condition that a TRUNCATE or DROP TABLE comes after an event of its table.
  Sequences compare across partitions.  The condition is null if the statement
  was later found to refer to another table.
-#}
{% macro is_truncated_by(event, truncation, sequence='sequence') -%}
{{ event }}.{{ sequence }} < {{ truncation }}.sequence
{%- endmacro %}
