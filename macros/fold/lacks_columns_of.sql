{% macro lacks_columns_of(event, missing) -%}
not {{ event }}.lists_all_columns
            and {{ matches(
                event, missing, ['source_format', 'table_id', 'schema_id']
            ) }}
            and {{ event }}.sequence > {{ missing }}.from_sequence
            and coalesce(
                {{ event }}.sequence <= {{ missing }}.to_sequence, true
            )
{%- endmacro %}
