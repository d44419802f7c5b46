{#-
  Iceberg reads a table with structs row by row, and a merge reads these
  columns of all rows.
-#}
{% macro last_sequence(prefix='') -%}
{%- set columns = [] -%}
{%- for member in sequence_members() -%}
  {%- do columns.append(prefix ~ 'last_' ~ member) -%}
{%- endfor -%}
{{ sequence_struct(*columns) }}
{%- endmacro %}


{% macro last_sequence_members() -%}
{% for member in sequence_members() -%}
last_sequence.`{{ member }}` as last_{{ member }}{{ "," if not loop.last }}
{% endfor -%}
{%- endmacro %}
