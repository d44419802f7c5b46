{% macro check_settings() -%}
  {%- if execute and not is_incremental() -%}
    {%- do cdc_marts.check_removed_messages() -%}
    {%- set read = incremental_read() -%}
    {%- for setting in cdc_marts.reading_settings() -%}
      {%- do read.keep_property(setting.property, tojson(setting.now)) -%}
    {%- endfor -%}
  {%- elif execute -%}
    {%- if not has_rows(this) -%}
      {%- do cdc_marts.check_removed_messages() -%}
    {%- endif -%}
    {%- set written = cdc_marts.check_setting_changes(this) -%}
    {%- if written -%}
alter table {{ this }} set {{ cdc_marts.properties_sql(written) }}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{% macro check_setting_changes(rows) -%}
  {%- set written = {} -%}
  {%- for setting in cdc_marts.reading_settings() -%}
    {%- set kept = adapter.table_property(this, setting.property) -%}
    {%- set before = fromjson(kept) if kept is not none else setting.now -%}
    {%- set changes = cdc_marts.setting_changes(before, setting.now) -%}
    {%- if changes -%}
      {%- do cdc_marts.check_rows_read_otherwise(setting, rows, changes) -%}
    {%- endif -%}
    {%- if changes or kept is none -%}
      {%- do written.update({setting.property: tojson(setting.now)}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(written) -%}
{%- endmacro %}


{% macro check_rows_read_otherwise(setting, rows, changes) -%}
  {%- set concerned = run_query(setting.rows_sql(rows, changes)) -%}
  {%- if concerned.rows | length > 0 -%}
    {%- do exceptions.raise_compiler_error(
        setting.error(concerned.columns[0].values(), changes)
    ) -%}
  {%- endif -%}
{%- endmacro %}


{% macro reading_settings() -%}
  {%- do return([
      cdc_marts.key_setting(),
      cdc_marts.swapped_topics_setting(),
      cdc_marts.datahub_topics_setting(),
  ] | reject('none') | list) -%}
{%- endmacro %}


{% macro setting_changes(before, now) -%}
  {%- set changes = {} -%}
  {%- for name in (before.keys() | list + now.keys() | list) | unique -%}
    {%- if before.get(name) != now.get(name) -%}
      {%- do changes.update({name: {
          'before': before.get(name),
          'now': now.get(name),
      }}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(changes) -%}
{%- endmacro %}


{% macro rebuild_command() -%}
dbt run --full-refresh --select {{ model.name }}+ --target {{ target.name }}
{%- endmacro %}


{% macro properties_sql(properties) -%}
tblproperties (
    {%- for name, value in properties.items() %}
    '{{ name }}' = {{ adapter.string_literal(value) }}{{ "," if not loop.last }}
    {%- endfor %}
)
{%- endmacro %}
