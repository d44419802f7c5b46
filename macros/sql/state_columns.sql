{#- The columns that rows of tables with and without keys have in common. -#}
{% macro state_columns() -%}
source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        row_key,
        row_count,
        last_op,
        last_event_id,
        schema_id,
        last_event_at,
        last_sequence,
        first_event_at
{%- endmacro %}
