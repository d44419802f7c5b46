{#-
  The query of a typed mart: the rows that its source table has now, in real
  columns.  The var `tables` declares the table under the model's name; Python
  does the rest (`src/cdc_marts/typed`).
-#}
{% macro typed_mart() -%}
  {%- set declared = adapter.call_function(
      'cdc_marts.typed.declaration:declaration',
      model.name,
      var('tables'),
      cdc_marts.source_formats()
  ) -%}
  {{- config(partition_by=declared.partition_by or none) -}}
  {#- What Python reads has these names there. -#}
  {%- set inputs = {
      'live_rows': ref('latest_state'),
      'keyless_rows': ref('int_keyless_rows'),
      'effects': ref('int_row_effects'),
      'schema_versions': ref('int_table_schemas'),
      'columns': ref('int_table_columns'),
      'lost_columns': ref('int_lost_columns'),
      'code_table': ref('source_types'),
  } -%}
  {%- set new_inputs = {
      'touched_keys': ref('int_touched_keys'),
      'ends': ref('int_table_ends'),
      'column_drops': ref('int_column_drops'),
  } -%}
select * from {{ dataframe(
    'cdc_marts.typed.mart:rows',
    inputs,
    new_inputs,
    {'declared': declared, 'source_formats': cdc_marts.source_formats()}
) }}
{%- endmacro %}
