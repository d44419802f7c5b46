with

statements as (

    select
        records.*,
        {{ statement_id('records') }} as statement_id
    from {{ ref('int_records') }} as records
    where records.record_type = 'ddl'

),

-- If a statement has several deliveries, the first that landed counts.
first_deliveries as (

    select
        *,
        row_number() over (
            partition by source_format, statement_id
            order by {{ landing_order('statements') }}
        ) as delivery
    from statements

),

resolved_changes as (select * from {{ ref('int_resolved_changes') }}),

newest_resolutions as (

    select
        source_format,
        statement_id,
        change,
        table_id,
        max_by(
            if(sequence is null, null, struct(change, table_id, column_names)),
            version
        ) as applied_change
    from resolved_changes
    group by source_format, statement_id, change, table_id

),

applied_changes as (

    select
        source_format,
        statement_id,
        array_sort(collect_list(applied_change)) as applied_changes
    from newest_resolutions
    where applied_change is not null
    group by source_format, statement_id

),

ddl_events as (

    select
        statements.source_format,
        statements.topic,
        statements.`partition`,
        statements.offset,
        statements.source_type,
        statements.database_name,
        statements.schema_name,
        statements.table_name,
        statements.table_id,
        statements.source_op,
        statements.ddl_text,
        statements.transaction_id,
        statements.table_changes,
        applied_changes.applied_changes,
        statements.is_truncation,
        statements.event_at,
        statements.published_at,
        statements.landed_at,
        statements.sequence
    from first_deliveries as statements
    left join applied_changes
        on
            statements.source_format = applied_changes.source_format
            and statements.statement_id = applied_changes.statement_id
    where statements.delivery = 1

)

select * from ddl_events
