{#-
  As dbt's, but a data test does not run again while the tables that it reads are unchanged. It
  always runs after a failure, with `--full-refresh`, and if its failures are stored.
-#}
{% materialization test, adapter='spark_session' %}
  {%- set question = get_test_sql(
      get_limit_subquery_sql(sql, config.get('limit')),
      config.get('fail_calc'), config.get('warn_if'), config.get('error_if'), limit=none
  ) -%}
  {%- set checksum = none if should_store_failures() else adapter.question_checksum(question) -%}
  {%- set kept = none if should_full_refresh() else adapter.kept_result(model.unique_id, checksum) -%}
  {%- if kept is not none -%}
    {%- do store_raw_result('main', message='OK, unchanged', code='OK', rows_affected='1', agate_table=kept) -%}
    {{ return({'relations': []}) }}
  {%- endif -%}

  {%- set made = materialization_test_default() -%}
  {%- set result = load_result('main')['table'] -%}
  {%- set is_failure = config.get('severity') | lower == 'error' and result.rows[0]['should_error'] -%}
  {%- do adapter.keep_result(model.unique_id, none if is_failure else checksum, result) -%}
  {{ return(made) }}
{% endmaterialization %}
