{#-
  As dbt-spark's, with these differences:
  - The rows of a Python model go straight into the table, without a table in between.
  - A rebuild replaces the table in one commit.
  - A model that reads increments (`new_rows`) writes nothing if there are none. Otherwise, it
    commits what it has read with its data. It may also replace rows (`replaces`).
  - The macro of a strategy may come from a project.
  - With --empty, an existing table keeps its rows, unless --full-refresh rebuilds it. So it does
    with --sample if the model reads increments: the rows of a sample may be in the table already,
    and the next run would read them again.
-#}
{% materialization incremental, adapter='spark_session', supported_languages=['sql', 'python'] %}
  {%- set file_format = dbt_spark_validate_get_file_format(config.get('file_format')) -%}
  {%- set strategy = config.get('incremental_strategy') or 'append' -%}
  {%- set strategy_macro = adapter.get_incremental_strategy_macro(context, strategy) -%}
  {%- if strategy in adapter.valid_incremental_strategies() -%}
    {%- do dbt_spark_validate_get_incremental_strategy(strategy, file_format) -%}
  {%- endif -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {%- set predicates = config.get('predicates', none) or config.get('incremental_predicates', none) -%}
  {%- set existing_relation = load_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table', is_iceberg=(file_format == 'iceberg')) -%}
  {%- set read = incremental_read() -%}

  {%- if strategy in ['insert_overwrite', 'microbatch'] and config.get('partition_by') -%}
    {%- call statement() -%}
      set spark.sql.sources.partitionOverwriteMode = dynamic
    {%- endcall -%}
  {%- endif -%}

  {{ run_hooks(pre_hooks) }}
  {%- set query = compiled_code -%}
  {%- if model['language'] == 'python' -%}
    {%- set view = api.Relation.create(identifier=this.identifier ~ '__dbt_tmp') -%}
    {%- call statement('python_model', language='python') -%}
      {{ create_python_view(compiled_code, view, read) }}
    {%- endcall -%}
    {%- set query = 'select * from ' ~ view.identifier -%}
  {%- endif -%}

  {%- set is_new = existing_relation is none or existing_relation.is_view or should_full_refresh() -%}
  {#- dbt's flags do not show --sample. It gives a model other rows, and so does a microbatch. -#}
  {%- set is_part = flags.EMPTY or (read.has_given_rows and strategy != 'microbatch') -%}
  {%- if is_part and not is_new -%}
    {% do check_query(query, existing_relation, on_schema_change) %}
    {%- call noop_statement('main', 'OK, nothing written', rows_affected=0) -%}
      -- --empty and --sample leave the rows of the table as they are
    {%- endcall -%}
  {%- elif is_new or read.is_rebuild -%}
    {% do create_or_replace_table(target_relation, existing_relation, query, read) %}
  {%- elif read.has_nothing_new -%}
    {%- if on_schema_change == 'fail' -%}
      {% do check_listed_columns(existing_relation) %}
    {%- endif -%}
    {%- call noop_statement('main', 'OK, nothing new', rows_affected=0) -%}
      -- all rows of every input were read before
    {%- endcall -%}
  {%- else -%}
    {%- set new_relation = api.Relation.create(identifier=this.identifier ~ '__dbt_new') -%}
    {% do adapter.create_temporary_view(new_relation, query) %}
    {% do process_schema_changes(on_schema_change, new_relation, existing_relation) %}
    {%- if on_schema_change in ['append_new_columns', 'sync_all_columns'] -%}
      {#- If the query reads the table itself, its plan still has the earlier columns. -#}
      {% do adapter.create_temporary_view(new_relation, query) %}
    {%- endif -%}
    {%- if read.replaced_rows is not none -%}
      {% do replace_rows(new_relation, read) %}
    {%- else -%}
      {% do adapter.begin_commit(read) %}
      {%- call statement('main') -%}
        {{ strategy_macro({
            'target_relation': target_relation,
            'temp_relation': new_relation,
            'unique_key': config.get('unique_key'),
            'dest_columns': adapter.get_columns_in_relation(existing_relation),
            'incremental_predicates': predicates,
        }) }}
      {%- endcall -%}
    {%- endif -%}
    {% do report_written_rows(target_relation) %}
  {%- endif -%}

  {% do finish_model(target_relation, existing_relation, read) %}
  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{#- Checks that Spark can plan a query, and if changed columns fail the model, that they are the same. -#}
{% macro check_query(query, existing_relation, on_schema_change) %}
  {%- set new_relation = api.Relation.create(identifier=this.identifier ~ '__dbt_new') -%}
  {% do adapter.create_temporary_view(new_relation, query) %}
  {%- if on_schema_change == 'fail' -%}
    {% do process_schema_changes(on_schema_change, new_relation, existing_relation) %}
  {%- endif -%}
{% endmacro %}


{#- As dbt's, but the error of a model says what has changed and how to rebuild it. -#}
{% macro spark_session__process_schema_changes(on_schema_change, source_relation, target_relation) %}
  {%- if on_schema_change != 'fail' -%}
    {{ return(default__process_schema_changes(on_schema_change, source_relation, target_relation)) }}
  {%- endif -%}
  {%- set changes = check_for_schema_changes(source_relation, target_relation) -%}
  {%- if changes['schema_changed'] -%}
    {%- set new = changes['source_not_in_target'] | map(attribute='name') | join(', ') -%}
    {%- set gone = changes['target_not_in_source'] | map(attribute='name') | join(', ') -%}
    {%- set retyped = changes['new_target_types'] | map(attribute='column_name') | join(', ') -%}
    {%- do raise_other_columns(target_relation, new, gone, retyped) -%}
  {%- endif -%}
  {{ return(changes['source_columns']) }}
{% endmacro %}


{#- A model without new rows is not analyzed, but the columns in its properties are known. -#}
{% macro check_listed_columns(target_relation) %}
  {%- set held = adapter.get_columns_in_relation(target_relation) | map(attribute='name') | map('lower') | list -%}
  {%- set new = model.columns.keys() | map('lower') | reject('in', held) | join(', ') -%}
  {%- if new -%}
    {%- do raise_other_columns(target_relation, new) -%}
  {%- endif -%}
{% endmacro %}


{% macro raise_other_columns(target_relation, new, gone='', retyped='') %}
  {%- do exceptions.raise_compiler_error(
      "The columns of the model differ from the columns of its table " ~ target_relation
      ~ ": new " ~ (new or 'none') ~ ", gone " ~ (gone or 'none')
      ~ ", of another type " ~ (retyped or 'none')
      ~ ". Rebuild it and what reads it: dbt run --full-refresh --select " ~ model['name']
      ~ "+ --target " ~ target.name
  ) -%}
{% endmacro %}


{#-
  As dbt-spark's, with two differences. `delete_when`: a condition on DBT_INTERNAL_SOURCE. Rows of
  the query that fulfil it delete the rows that they match. `repeatable`: a promise that the query
  gives the same rows if it runs twice. Then rows of a large table that no row of the query can
  match are not shuffled.
-#}
{% macro spark_session__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %}
  {%- set predicates = incremental_predicates or [] -%}
  {%- if config.get('repeatable') -%}
    {%- set condition = adapter.possible_matches(target, source, unique_key, 'DBT_INTERNAL_DEST') -%}
    {%- set predicates = predicates + ([condition] if condition else []) -%}
  {%- endif -%}
  {%- set merge_sql = spark__get_merge_sql(target, source, unique_key, dest_columns, predicates) -%}
  {%- set delete_when = config.get('delete_when') -%}
  {%- if delete_when -%}
    {%- set merge_sql = replaced_once(
        merge_sql,
        'when matched then update',
        'when matched and ' ~ delete_when ~ ' then delete\n      when matched then update'
    ) -%}
    {%- set merge_sql = replaced_once(
        merge_sql,
        'when not matched then',
        'when not matched and not (' ~ delete_when ~ ') then'
    ) -%}
  {%- endif -%}
  {{ merge_sql }}
{% endmacro %}


{% macro replaced_once(merge_sql, clause, replacement) -%}
  {%- if merge_sql.count(clause) != 1 -%}
    {%- do exceptions.raise_compiler_error(
        "`delete_when` can't delete: this version of dbt-spark writes a merge without `"
        ~ clause ~ "`. Install a version that this adapter is tested with."
    ) -%}
  {%- endif -%}
  {{ merge_sql | replace(clause, replacement) }}
{%- endmacro %}
