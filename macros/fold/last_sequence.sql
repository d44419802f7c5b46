{#-
  The `last_sequence` of a row of `int_row_state`.  The table has the members of
  the struct as columns: Iceberg reads a table with structs row by row, and a
  merge reads these columns of all rows.

  prefix: the prefix of the names of the columns, for example `held.`.
-#}
{% macro last_sequence(prefix='') -%}
{%- set columns = [] -%}
{%- for member in sequence_members() -%}
  {%- do columns.append(prefix ~ 'last_' ~ member) -%}
{%- endfor -%}
{{ sequence_struct(*columns) }}
{%- endmacro %}


{#- The members of `last_sequence` as columns. -#}
{% macro last_sequence_members() -%}
{% for member in sequence_members() -%}
last_sequence.`{{ member }}` as last_{{ member }}{{ "," if not loop.last }}
{% endfor -%}
{%- endmacro %}
