{#- The columns of an effect that are those of its record. -#}
{% macro record_columns() -%}
source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        record_type,
        topic,
        op,
        event_id,
        pairing_id,
        transaction_id,
        schema_id,
        is_keyless,
        event_at,
        sequence
{%- endmacro %}
