{#-
  The query is only a union, so its new rows are the new rows of its tables.
-#}
{% macro union_of_staging(source_formats) -%}
  {%- for source_format in formats_with_rows(source_formats) %}
select
    * except (
        source_format, sequence, message_transaction_index, message_row_index
    ),
    -- Spark leaves out formats that a condition excludes before it plans a scan.
    '{{ source_format }}' as source_format,
    event_id as message_event_id,
    {{ message_sequence() }} as sequence
from {{ ref('stg_' ~ source_format) }}
{{ "union all" if not loop.last }}
  {%- endfor %}
{%- endmacro %}


{#- Iceberg reads these columns in batches, and the struct row by row. -#}
{% macro message_sequence() -%}
if(
        message_row_index is null,
        null,
        {{ sequence_struct(
            'message_position',
            'message_transaction_index',
            '`partition`',
            'offset',
            'message_row_index',
        ) }}
    )
{%- endmacro %}
