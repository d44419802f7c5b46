{#- Any program may append to these tables. -#}
{% macro create_landing_tables() -%}
  {%- if execute -%}
    {%- set resyncs = landing_relation('resyncs') -%}
    {%- set removed = landing_relation('removed_messages') -%}
    {%- set run_results = landing_relation('run_results') -%}
    {%- set tables = [
        (resyncs, resyncs_table_sql(resyncs)),
        (removed, removed_messages_table_sql(removed)),
        (run_results, run_results_table_sql(run_results)),
    ] -%}
    {%- for source_format in var('source_formats') -%}
      {%- set landing_table = landing_relation(source_format) -%}
      {%- do tables.append(
          (landing_table, landing_table_sql(landing_table))
      ) -%}
    {%- endfor -%}
    {%- do adapter.create_schema(resyncs.without_identifier()) -%}
    {%- for table, statement in tables if load_relation(table) is none -%}
      {%- do run_query(statement) -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}


{% macro resyncs_table_sql(relation) -%}
create table if not exists {{ relation }} (
    source_format string not null,
    table_id string not null,
    resync_number int not null,
    topic string,
    loaded_since timestamp not null,
    position decimal(38, 0),
    requested_at timestamp not null
)
using iceberg
{%- endmacro %}


{% macro removed_messages_table_sql(relation) -%}
create table if not exists {{ relation }} (
    source_format string not null,
    topic string not null,
    `partition` int not null,
    offset_block bigint not null,
    offset_bits bigint not null,
    removed_at timestamp not null
)
using iceberg
partitioned by (source_format)
{%- endmacro %}


{% macro run_results_table_sql(relation) -%}
create table if not exists {{ relation }} (
    run_id string not null,
    command string not null,
    selected array<string>,
    is_full_refresh boolean not null,
    target_name string not null,
    outcome string not null,
    started_at timestamp not null,
    ended_at timestamp not null,
    versions struct<cdc_marts: string, dbt: string, spark: string>,
    nodes array<struct<
        node_name: string,
        resource_type: string,
        materialized: string,
        relation_name: string,
        status: string,
        message: string,
        rows_written: bigint,
        failure_count: bigint,
        seconds: double
    >>
)
using iceberg
{%- endmacro %}


{% macro landing_table_sql(relation) -%}
create table if not exists {{ relation }} (
    topic string not null,
    `partition` int not null,
    offset bigint not null,
    timestamp timestamp,
    key binary,
    value binary,
    landed_at timestamp not null
)
using iceberg
{%- endmacro %}
