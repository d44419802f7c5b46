{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The changes of tables by statements.  The tables have the names that the
-- statements use.  If a message that lands later raises the place of a
-- statement, the statement is listed again, at its new place.

{#- The first run reads this input too, so that it notes its watermark. -#}
{%- set new_raised_positions = new_rows(ref('int_raised_positions')) %}

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
        statements.landing_commit,
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

){% if is_incremental() %},

earlier_changes as (select * from {{ this }}),

raised_messages as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        max(position) as position,
        cast(null as bigint) as transaction_index
    from {{ new_raised_positions }}
    where is_revision
    group by source_format, topic, `partition`, offset

),

raised_changes as (

    select distinct
        earlier_changes.* except (sequence),
        {{ placed_sequence('earlier_changes', 'raised_messages') }}
            as sequence
    from earlier_changes
    inner join raised_messages
        on {{ matches(
            'earlier_changes', 'raised_messages', columns_of_message()
        ) }}

)

select * from table_changes

union all

select * from raised_changes
{%- else %}

select * from table_changes
{%- endif %}
