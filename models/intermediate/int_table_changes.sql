{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- What statements do to tables, in the names that they use.

with

statements as (

    select
        *,
        {{ statement_id('records') }} as statement_id
    from {{ new_rows(ref('int_records')) }} as records
    where
        record_type in ('ddl', 'transaction')
        and table_changes is not null

),

table_changes as (

    select
        statements.source_format,
        statements.topic,
        statements.`partition`,
        statements.offset,
        statements.statement_id,
        changes.change_index,
        changes.table_change.change,
        changes.table_change.database_name,
        changes.table_change.schema_name,
        changes.table_change.table_name,
        changes.table_change.column_names,
        statements.source_op,
        statements.ddl_text,
        statements.event_at,
        statements.sequence
    from statements
        lateral view posexplode(table_changes) changes
        as change_index, table_change

)

select * from table_changes
