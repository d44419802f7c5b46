{#-
  Before a staging model adds rows: checks that its existing rows were read with
  the current settings.  The settings are properties of the table, and a rebuild
  writes them.  The macro looks at rows only if they differ.
-#}
{% macro check_settings() -%}
  {%- if execute and not is_incremental() -%}
    {%- do cdc_marts.check_removed_messages() -%}
    {%- set read = incremental_read() -%}
    {%- for property, now in cdc_marts.reading_settings().items() -%}
      {%- do read.keep_property(property, tojson(now)) -%}
    {%- endfor -%}
  {%- elif execute -%}
    {%- set written = cdc_marts.check_setting_changes(this) -%}
    {%- if written -%}
alter table {{ this }} set {{ cdc_marts.properties_sql(written) }}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{#-
  Property -> settings, for the settings that are not yet properties of the
  staging table.  It is an error if one of the `rows`, a table expression, would
  be read differently with them.
-#}
{% macro check_setting_changes(rows) -%}
  {%- set written = {} -%}
  {%- for property, now in cdc_marts.reading_settings().items() -%}
    {%- set kept = adapter.table_property(this, property) -%}
    {%- set before = fromjson(kept) if kept is not none else now -%}
    {%- set changes = cdc_marts.setting_changes(before, now) -%}
    {%- if changes -%}
      {%- do cdc_marts.check_rows_read_otherwise(property, rows, changes) -%}
    {%- endif -%}
    {%- if changes or kept is none -%}
      {%- do written.update({property: tojson(now)}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(written) -%}
{%- endmacro %}


{#-
  It is an error if the changes of a setting concern tables or topics with rows
  among `rows`.

  property: the property of the setting.
-#}
{% macro check_rows_read_otherwise(property, rows, changes) -%}
  {%- set query, error = {
      cdc_marts.key_settings_property(): (
          cdc_marts.tables_with_other_keys_sql,
          cdc_marts.key_settings_error,
      ),
      cdc_marts.swapped_topics_property(): (
          cdc_marts.topics_swapped_otherwise_sql,
          cdc_marts.swapped_topics_error,
      ),
      cdc_marts.datahub_topics_property(): (
          cdc_marts.datahub_topics_with_rows_sql,
          cdc_marts.datahub_topics_error,
      ),
  }[property] -%}
  {%- set concerned = run_query(query(rows, changes)) -%}
  {%- if concerned.rows | length > 0 -%}
    {%- do exceptions.raise_compiler_error(
        error(concerned.columns[0].values(), changes)
    ) -%}
  {%- endif -%}
{%- endmacro %}


{#-
  Property of a staging table -> the settings with which its rows are read.
-#}
{% macro reading_settings() -%}
  {%- set settings = {} -%}
  {%- if config.get('tables') is not none -%}
    {%- do settings.update({
        cdc_marts.key_settings_property(): cdc_marts.declared_keys(),
    }) -%}
  {%- endif -%}
  {%- if config.get('swapped_topics') is not none -%}
    {%- do settings.update({
        cdc_marts.swapped_topics_property():
            cdc_marts.declared_swapped_topics(config.get('swapped_topics')),
    }) -%}
  {%- endif -%}
  {%- if config.get('datahub_topics') is not none -%}
    {%- do settings.update({
        cdc_marts.datahub_topics_property():
            cdc_marts.declared_datahub_topics(),
    }) -%}
  {%- endif -%}
  {%- do return(settings) -%}
{%- endmacro %}


{#-
  Name -> its old and its new setting, null for none.  It has only names whose
  setting differs.
-#}
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
