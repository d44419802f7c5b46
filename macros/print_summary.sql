{#-
  On other targets than `demo`, counting would cost more with each landed
  message.
-#}
{% macro print_summary(results) -%}
  {%- set what = {
      'int_landed_messages': 'messages landed',
      'change_events': 'change events',
      'latest_state': 'rows in latest_state',
      'source_tables': 'source tables',
      'ddl_events': 'DDL events',
      'heartbeats': 'heartbeats',
      'transaction_events': 'transaction events',
      'quarantined_messages': 'quarantined messages',
  } -%}
  {%- set built = {} -%}
  {%- set missing = [] -%}
  {%- for result in results
      if result.node.package_name == 'cdc_marts' and result.node.name in what -%}
    {%- do built.update({result.node.name: result.node.relation_name}) -%}
  {%- endfor -%}
  {%- for result in results
      if result.status == 'skipped'
      or ("'" ~ result.status ~ "'") in failed_statuses() -%}
    {%- do missing.append(result) -%}
  {%- endfor -%}
  {%- if execute and flags.WHICH == 'build' and not flags.QUIET
      and built | length == what | length and not missing -%}
    {%- set run = './run ' if project_name == 'cdc_marts' else '' -%}
    {%- if target.name == 'demo' -%}
      {%- set counts = run_query(count_rows_sql(built)).rows[0] -%}
      {%- do print('\nBuilt for target demo:') -%}
      {%- for name, text in what.items() -%}
        {%- do print('%8s' | format(counts[name]) ~ '  ' ~ text) -%}
      {%- endfor -%}
    {%- else -%}
      {%- do print(
          '\nBuilt for target ' ~ target.name ~ '. What landed, per topic:'
      ) -%}
      {%- do print('  ' ~ run ~ 'cdc-marts status --target ' ~ target.name) -%}
    {%- endif -%}
    {%- set schema = built.latest_state.split('.')[0] -%}
    {%- do print(
        'The marts are in schema `' ~ schema ~ '`. The current rows:'
    ) -%}
    {%- do print(
        '  ' ~ run ~ 'dbt show --target ' ~ target.name
        ~ " --inline 'select * from "
        ~ '{{ ref("cdc_marts", "latest_state") }}' ~ "'\n"
    ) -%}
  {%- endif -%}
{%- endmacro %}


{% macro count_rows_sql(relations) -%}
select
    {% for name, relation in relations.items() -%}
    (select count(*) from {{ relation }}) as {{ name }}
    {{- "," if not loop.last }}
    {% endfor -%}
{%- endmacro %}
