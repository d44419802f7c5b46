{#-
  The `last_sequence` of a row of `int_row_state`.  The table has the members of
  the struct as columns: Iceberg reads a table with structs row by row, and a
  merge reads these columns of all rows.

  prefix: the prefix of the names of the columns, for example `held.`.
-#}
{% macro last_sequence(prefix='') -%}
named_struct(
    {% for member in sequence_members() -%}
    '{{ member }}', {{ prefix }}last_{{ member }}{{ "," if not loop.last }}
    {% endfor -%}
)
{%- endmacro %}


{#- The members of `last_sequence` as columns. -#}
{% macro last_sequence_members() -%}
{% for member in sequence_members() -%}
last_sequence.`{{ member }}` as last_{{ member }}{{ "," if not loop.last }}
{% endfor -%}
{%- endmacro %}


{#- The members of a sequence, in the order in which they are compared. -#}
{% macro sequence_members() -%}
{%- do return([
    'position',
    'transaction_index',
    'partition',
    'offset',
    'row_index',
]) -%}
{%- endmacro %}
