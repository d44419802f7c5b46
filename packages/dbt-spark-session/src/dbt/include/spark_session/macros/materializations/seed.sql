{#-
  A seed is written in one commit if its format allows that, with its texts byte for byte. It is
  written only if its file or its settings have changed (the table keeps their checksum).
-#}
{% materialization seed, adapter='spark_session' %}
  {%- set existing_relation = load_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set agate_table = load_agate_table() -%}
  {%- do store_result('agate_table', response='OK', agate_table=agate_table) -%}
  {%- set is_current = not should_full_refresh() and is_seeded(existing_relation, model) -%}

  {{ run_hooks(pre_hooks) }}
  {%- if is_current -%}
    {%- call noop_statement('main', 'OK, unchanged', 'INSERT', 0) -%}
      -- the file is unchanged
    {%- endcall -%}
  {%- else -%}
    {%- call statement('main') -%}
      {{ new_seed_table(target_relation, existing_relation, config.get('file_format')) }}
      {{ file_format_clause() }}
      tblproperties ('dbt.seed-checksum' = '{{ seed_checksum(model) }}')
      {{ partition_cols(label="partitioned by") }}
      {{ location_clause() }}
      {{ comment_clause() }}
      as
      {{ seed_rows_sql(agate_table, config.get('column_types', {})) }}
    {%- endcall -%}
  {%- endif -%}
  {% do apply_grants(target_relation, config.get('grants'), should_revoke(existing_relation, should_full_refresh())) %}
  {% do persist_docs(target_relation, model) %}
  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{#-
  For `on-run-start`: writes the seeds of a folder (`project.folder`) that are missing, or differ
  from their files, so that `dbt run` alone has them too. Other commands write the seeds
  themselves, or do not need them.
-#}
{% macro load_seeds(folder) %}
  {%- if execute and flags.WHICH == 'run' -%}
    {%- for seed in graph.nodes.values() if seed.resource_type == 'seed' and (seed.fqn | join('.')).startswith(folder ~ '.') -%}
      {%- set relation = api.Relation.create(schema=seed.schema, identifier=seed.alias, type='table') -%}
      {%- if not is_seeded(load_relation(relation), seed) -%}
        {%- do adapter.create_schema(relation) -%}
        {%- set file_format = seed.config.file_format or adapter.default_file_format() -%}
        {%- set load_sql -%}
          {{ new_seed_table(relation, load_relation(relation), file_format) }}
          using {{ file_format }}
          tblproperties ('dbt.seed-checksum' = '{{ seed_checksum(seed) }}')
          as
          {{ seed_rows_sql(adapter.read_seed(seed), seed.config.column_types or {}) }}
        {%- endset -%}
        {%- do run_query(load_sql) -%}
        {%- do adapter.cache_added(relation) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
{% endmacro %}


{#- The beginning of the statement. A table that can't be replaced is dropped before. -#}
{% macro new_seed_table(relation, existing_relation, file_format) -%}
  {%- if adapter.is_replaceable(file_format) -%}
    create or replace table {{ relation }}
  {%- else -%}
    {%- if existing_relation is not none -%}
      {%- do adapter.drop_relation(existing_relation) -%}
    {%- endif -%}
    create table {{ relation }}
  {%- endif -%}
{%- endmacro %}


{% macro is_seeded(relation, seed) %}
  {#- For a file of more than 1 MiB, dbt computes only a checksum of its path. -#}
  {%- do return(
      relation is not none
      and seed.checksum.name != 'path'
      and adapter.table_property(relation, 'dbt.seed-checksum') == seed_checksum(seed)
  ) -%}
{% endmacro %}


{% macro seed_checksum(seed) %}
  {%- do return(local_md5(seed.checksum.checksum ~ (seed.config.column_types or {}))) -%}
{% endmacro %}


{% macro seed_rows_sql(agate_table, column_types) %}
  {%- set columns = [] -%}
  {%- for name in agate_table.column_names -%}
    {%- set inferred_type = adapter.convert_type(agate_table, loop.index0) -%}
    {%- do columns.append({
        'name': adapter.quote(name),
        'type': column_types.get(name, inferred_type),
    }) -%}
  {%- endfor -%}
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
