{% macro is_row_of_full_load() -%}
record_type = 'change'
    and (
        op = 'snapshot'
        or (op = 'insert' and {{ is_of_format_that('loads_by_inserts') }})
    )
{%- endmacro %}
