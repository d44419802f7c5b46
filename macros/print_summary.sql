{#- After `dbt build`: what was built, where it is, and how to look at it. -#}
{% macro print_summary(results) -%}
  {%- if execute and flags.WHICH == 'build' and selected_resources | length > 20
      and results | selectattr('status', 'in', ['error', 'fail', 'skipped']) | list | length == 0 -%}
    {%- set counts = run_query(summary_sql()).rows[0] -%}
    {%- do print('') -%}
    {%- do print('Built for target ' ~ target.name ~ ':') -%}
    {%- for name in counts.keys() -%}
      {%- do print('  ' ~ '%10s' | format(counts[name]) ~ '  ' ~ name | replace('_', ' ')) -%}
    {%- endfor -%}
    {%- do print('The marts are in schema marts' ~ (' of ' ~ target.home if target.home else '') ~ '. To see the current rows:') -%}
    {%- do print('  ./run dbt show --target ' ~ target.name ~ ' --inline "select table_id, row from {{ ref(\'latest_state\') }}"') -%}
  {%- endif -%}
{%- endmacro %}


{% macro summary_sql() -%}
select
    (
        select count(*) from {{ ref('int_landed_messages') }}
    ) as messages_landed,
    (
        select count(*) from {{ ref('change_events') }}
    ) as change_events,
    (
        select count(*) from {{ ref('latest_state') }}
    ) as rows_in_latest_state,
    (
        select count(distinct source_format, table_id)
        from {{ ref('latest_state') }}
    ) as source_tables,
    (
        select count(*) from {{ ref('ddl_events') }}
    ) as ddl_events,
    (
        select count(*) from {{ ref('heartbeats') }}
    ) as heartbeats,
    (
        select count(*) from {{ ref('transaction_events') }}
    ) as transaction_events,
    (
        select count(*) from {{ ref('quarantined_messages') }}
    ) as quarantined_messages
{%- endmacro %}
