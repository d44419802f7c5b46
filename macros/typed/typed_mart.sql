{#- Python computes the rows (`src/cdc_marts/typed`). -#}
{% macro typed_mart() -%}
  {%- do cdc_marts.check_adapter() -%}
  {%- if model.package_name == 'cdc_marts' and project_name != 'cdc_marts' -%}
    {#-
      This mart belongs to the samples.  The root project has its own marts.
    -#}
    {{- config(enabled=false) -}}
  {%- else -%}
    {{- cdc_marts.declared_mart() -}}
  {%- endif -%}
{%- endmacro %}


{% macro declared_mart() -%}
  {%- do cdc_marts.check_root_tables() -%}
  {%- set declared = adapter.call_function(
      'cdc_marts.typed.declaration:declaration',
      model.name,
      var('tables')
  ) -%}
  {{- config(
      materialized='incremental',
      incremental_strategy='merge',
      unique_key=['_row_key', '_row_copy'],
      delete_when='DBT_INTERNAL_SOURCE._last_op is null',
      repeatable=true,
      on_schema_change='append_new_columns',
      file_format='iceberg',
      partition_by=declared.partition_by or none,
      meta={'cdc_marts': {'source_format': declared.source_format}}
  ) -}}
  {#- Python knows its inputs by these names. -#}
  {%- set inputs = {
      'live_rows': ref('cdc_marts', 'latest_state'),
      'keyless_rows': ref('cdc_marts', 'int_keyless_rows'),
      'effects': ref('cdc_marts', 'int_row_effects'),
      'schema_versions': ref('cdc_marts', 'int_table_schemas'),
      'columns': ref('cdc_marts', 'int_table_columns'),
      'lost_columns': ref('cdc_marts', 'int_lost_columns'),
      'code_table': ref('cdc_marts', 'source_types'),
  } -%}
  {%- set new_inputs = {
      'touched_keys': ref('cdc_marts', 'int_touched_keys'),
      'colliding_keys': ref('cdc_marts', 'int_colliding_keys'),
      'truncations': ref('cdc_marts', 'int_truncations'),
      'resolved_changes': ref('cdc_marts', 'int_resolved_changes'),
  } -%}
select * from {{ dataframe(
    'cdc_marts.typed.mart:rows',
    inputs,
    new_inputs,
    {'declared': declared},
    {'filled_rows': ref('cdc_marts', 'int_filled_rows')}
) }}
{%- endmacro %}
