{#-
  A seed is written in one commit, its texts byte for byte, and only when its
  file or its settings have changed since (their checksum is kept with the table).
-#}
{% materialization seed, adapter='spark_session' %}
  {%- set existing_relation = load_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set agate_table = load_agate_table() -%}
  {%- do store_result('agate_table', response='OK', agate_table=agate_table) -%}
  {%- set checksum = local_md5(model.checksum.checksum ~ config.get('column_types', {})) -%}
  {#- dbt takes no checksum of a file of more than 1 MiB, only of its path. -#}
  {%- set is_current = existing_relation is not none and not should_full_refresh()
      and model.checksum.name != 'path'
      and adapter.table_property(existing_relation, 'dbt.seed-checksum') == checksum -%}

  {{ run_hooks(pre_hooks) }}
  {%- if is_current -%}
    {%- call noop_statement('main', 'OK, unchanged', 'INSERT', 0) -%}
      -- the file is as it was
    {%- endcall -%}
  {%- else -%}
    {%- call statement('main') -%}
      {{ seed_sql(target_relation, agate_table, checksum) }}
    {%- endcall -%}
  {%- endif -%}
  {% do apply_grants(target_relation, config.get('grants'), should_revoke(existing_relation, should_full_refresh())) %}
  {% do persist_docs(target_relation, model) %}
  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{% macro seed_sql(relation, agate_table, checksum) %}
  {%- set column_types = config.get('column_types', {}) -%}
  {%- set columns = [] -%}
  {%- for name in agate_table.column_names -%}
    {%- set inferred_type = adapter.convert_type(agate_table, loop.index0) -%}
    {%- do columns.append({
        'name': adapter.quote(name),
        'type': column_types.get(name, inferred_type),
    }) -%}
  {%- endfor -%}
  create or replace table {{ relation }}
  {{ file_format_clause() }}
  tblproperties ('dbt.seed-checksum' = '{{ checksum }}')
  {{ partition_cols(label="partitioned by") }}
  {{ location_clause() }}
  {{ comment_clause() }}
  as
  select
    {%- for column in columns %}
    cast({{ column.name }} as {{ column.type }}) as {{ column.name }}{{ "," if not loop.last }}
    {%- endfor %}
  from values
    {%- for row in agate_table.rows %}
    ({% for value in row.values() %}{{ adapter.string_literal(value) }}{{ ", " if not loop.last }}{% endfor %}){{ "," if not loop.last }}
    {%- else %}
    ({% for column in columns %}cast(null as string){{ ", " if not loop.last }}{% endfor %})
    {%- endfor %}
    as seed ({{ columns | map(attribute='name') | join(', ') }})
  {%- if agate_table.rows | length == 0 %}
  where false
  {%- endif %}
{% endmacro %}
