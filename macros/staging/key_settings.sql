{% macro key_setting() -%}
  {%- set tables = config.get('tables') -%}
  {%- do return(none if tables is none else {
      'property': 'cdc_marts.key-columns',
      'now': adapter.call_function(
          'cdc_marts.parsing.settings:declared_keys',
          tables,
          cdc_marts.format_of_staging()
      ),
      'rows_sql': cdc_marts.tables_with_other_keys_sql,
      'error': cdc_marts.key_settings_error,
  }) -%}
{%- endmacro %}


{#-
  If no key was set, the key may be a row id of the database, which is used as
  the last resort.
-#}
{% macro tables_with_other_keys_sql(relation, changes) -%}
select distinct table_id
from {{ relation }}
where
    record_type in ('change', 'update_before')
    and (
        {% for table_id, change in changes.items() -%}
        {{ "or " if not loop.first -}}
        (
            table_id = {{ adapter.string_literal(table_id) }}
            and {{ cdc_marts.was_read_with_key(change.before) }}
        )
        {% endfor -%}
    )
{%- endmacro %}


{% macro was_read_with_key(columns) -%}
{%- if columns is none -%}
{%- set row_ids = adapter.call_function(
    'cdc_marts.parsing.row_keys:row_ids'
) -%}
(
    size(key_columns) = 0
    or key_columns in (
        {%- for row_id in row_ids -%}
        array({{ adapter.string_literal(row_id) }}){{ ", " if not loop.last }}
        {%- endfor -%}
    )
)
{%- else -%}
key_columns = array(
    {%- for column in columns -%}
    {{ adapter.string_literal(column) }}{{ ", " if not loop.last }}
    {%- endfor -%}
)
{%- endif -%}
{%- endmacro %}


{% macro key_settings_error(table_ids, changes) -%}
The keys of these tables were set differently when their messages were read:
{%- for table_id in table_ids | sort %}
  {%- set change = changes[table_id] %}
  {%- set before = cdc_marts.key_text(change.before) %}
  {%- set now = cdc_marts.key_text(change.now) %}
  {{ table_id }}: {{ before }}, now {{ now }}
{%- endfor %}
Declare their `key` as it was, {{ cdc_marts.reread_advice() }}
{%- endmacro %}


{% macro key_text(columns) -%}
{{ 'no key' if columns is none else columns | join(', ') }}
{%- endmacro %}
