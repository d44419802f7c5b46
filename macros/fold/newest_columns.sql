{#- The columns of a state that describe the newest effect on the key. -#}
{% macro newest_columns() -%}
source_format,
        table_id,
        newest.database_name,
        newest.schema_name,
        newest.table_name,
        row_key,
        newest.topic,
        newest.op as last_op,
        newest.event_id as last_event_id,
        newest.sequence as last_sequence,
        newest.schema_id
{%- endmacro %}
