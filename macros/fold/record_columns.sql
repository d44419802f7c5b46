{#- The columns of an effect that are those of its record; `of`: an alias. -#}
{% macro record_columns(of=none) -%}
{%- set columns = [
    'source_format',
    'table_id',
    'database_name',
    'schema_name',
    'table_name',
    'record_type',
    'topic',
    'op',
    'event_id',
    'pairing_id',
    'transaction_id',
    'schema_id',
    'lists_all_columns',
    'is_keyless',
    'event_at',
    'landing_commit',
    'delivery_position',
    'sequence',
] -%}
{%- for column in columns -%}
{{ of ~ '.' if of }}{{ column }}{{ ",\n        " if not loop.last }}
{%- endfor -%}
{%- endmacro %}
