{#-
  A truncation names the schema of its table.  Canal JSON names no schemas.  So
  if a statement names no schema, `public` or `dbo`, and truncates a PostgreSQL
  or Oracle table, the truncation counts for the tables of this name in all
  schemas.  A warning names the tables; a new full load shows whether rows of
  another schema were deleted too.  Any other schema is read as a database:
  `statements_are_applied` names such a statement if it was not applied.

  model: statements as in `int_resolved_changes`.  tables: as `source_tables`.
-#}
{% test truncations_name_their_schema(model, tables) %}

{{ config(severity='warn') }}

with

truncations as (

    select * from {{ model }}
    where
        source_format = 'canal_json'
        and change in ('truncation', 'table_drop')
        and sequence is not null

),

tables_with_schemas as (

    select * from {{ tables }}
    where source_type <> 'mysql' and schema_name is null

),

validation_errors as (

    select
        truncations.source_format,
        truncations.table_id,
        tables_with_schemas.source_type,
        count(distinct truncations.statement_id) as truncations,
        max(truncations.event_at) as last_truncated_at
    from truncations
    inner join tables_with_schemas
        on {{ matches(
            'truncations',
            'tables_with_schemas',
            columns_of_table()
        ) }}
    group by
        truncations.source_format,
        truncations.table_id,
        tables_with_schemas.source_type

)

select * from validation_errors

{% endtest %}
