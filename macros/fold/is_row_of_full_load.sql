{#-
  Condition that a record may be a row of a full load.  If a format has no
  operation for such rows, they are inserts.
-#}
{% macro is_row_of_full_load() -%}
record_type = 'change'
    and (
        op = 'snapshot'
        or (op = 'insert' and {{ is_of_format_that('loads_by_inserts') }})
    )
{%- endmacro %}
