with

records as (select * from {{ ref('int_records') }}),

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
    group by source_format, statement_id

),

ddl_events as (

    select
        records.source_format,
        records.topic,
        records.`partition`,
        records.offset,
        records.source_type,
        records.database_name,
        records.schema_name,
        records.table_name,
        records.table_id,
        records.source_op,
        records.ddl_text,
        records.transaction_id,
        records.table_changes,
        applied_changes.applied_changes,
        records.ends_rows,
        records.event_at,
        records.published_at,
        records.landed_at,
        records.sequence
    from records
    left join applied_changes
        on
            records.source_format = applied_changes.source_format
            and {{ statement_id('records') }} = applied_changes.statement_id
    where records.record_type = 'ddl'

)

select * from ddl_events
