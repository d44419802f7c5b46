{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- What statements do to tables, in the names that they use.  A statement whose
-- place is raised by a message that lands later stands in here again.

{%- set highest_positions = ref('int_highest_positions') %}

with

{% if is_incremental() -%}
held_changes as (select * from {{ this }}),

raised_messages as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        max(position) as position,
        cast(null as bigint) as transaction_index
    from {{ new_rows(highest_positions) }}
    where is_raised
    group by source_format, topic, `partition`, offset

),

raised_changes as (

    select distinct
        held_changes.* except (sequence),
        {{ moved_sequence('held_changes.sequence', 'raised_messages') }}
            as sequence
    from held_changes
    inner join raised_messages
        on {{ matches(
            'held_changes',
            'raised_messages',
            ['source_format', 'topic', '`partition`', 'offset']
        ) }}

),
{%- endif %}

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

){% if is_incremental() %},

moved_changes as (

    select * from table_changes

    union all

    select * from raised_changes

)

select * from moved_changes
{%- else %}

select * from table_changes
{%- endif %}
