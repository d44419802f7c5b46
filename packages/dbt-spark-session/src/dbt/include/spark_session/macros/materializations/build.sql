{#-
  Create the table, or replace its content: in one commit if the format allows that, or else by
  dropping the old table first.
-#}
{% macro create_or_replace_table(target_relation, existing_relation, query, read) %}
  {%- set is_replaceable = adapter.is_replaceable(config.get('file_format')) -%}
  {%- if existing_relation is not none and (existing_relation.is_view or not is_replaceable) -%}
    {% do adapter.drop_relation(existing_relation) %}
  {%- endif -%}
  {% do adapter.begin_commit(read) %}
  {%- call statement('main') -%}
    {{ create_table_as(False, target_relation, query) }}
  {%- endcall -%}
  {% do report_written_rows(target_relation) %}
{% endmacro %}


{#- Add the number of written rows, from the table's metadata, to the model's result. -#}
{% macro report_written_rows(target_relation) %}
  {%- if config.get('file_format') == 'iceberg' -%}
    {%- set rows = adapter.written_rows(target_relation) -%}
    {%- if rows is not none -%}
      {%- set message = 'OK, %s row%s' % ('{:,}'.format(rows), '' if rows == 1 else 's') -%}
      {% do store_raw_result('main', message=message, code='OK', rows_affected=rows) %}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}


{#- Replace rows by the rows of the run, in one change of the table's head. -#}
{% macro replace_rows(new_relation, read) %}
  {%- set branch = adapter.start_replacement(read) -%}
  {% do adapter.begin_commit(read) %}
  {%- call statement('main') -%}
    insert into {{ branch }} by name select * from {{ new_relation }}
  {%- endcall -%}
  {% do adapter.finish_replacement(read) %}
{% endmacro %}


{% macro finish_model(target_relation, existing_relation, read) %}
  {% do adapter.end_commit(read) %}
  {% do apply_grants(
      target_relation,
      config.get('grants'),
      should_revoke(existing_relation, full_refresh_mode=should_full_refresh())
  ) %}
  {% do persist_docs(target_relation, model) %}
  {% do persist_constraints(target_relation, model) %}
{% endmacro %}
