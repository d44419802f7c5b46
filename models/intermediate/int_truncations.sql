-- The places in the log at which all earlier rows of a table end: a TRUNCATE or
-- DROP TABLE, or right before the rows of a full load that repairs the table.

with

-- new rows may be read: readers only take from them the tables whose
-- truncations have changed, and for this it is enough to group the new rows
resolved_changes as (select * from {{ ref('int_resolved_changes') }}),

newest_resolutions as (

    select
        source_format,
        table_id,
        statement_id,
        max_by(
            struct(
                source_op,
                event_at,
                sequence,
                topic,
                version > 1 as is_revision
            ),
            version
        ) as newest
    from resolved_changes
    where change in ('truncation', 'table_drop')
    group by source_format, table_id, statement_id, change

),

resyncs as (select * from {{ ref('int_resyncs') }}),

truncations as (

    -- one statement may truncate a table and drop it
    select distinct
        source_format,
        table_id,
        newest.*
    from newest_resolutions

    union all

    select
        source_format,
        table_id,
        'RESYNC' as source_op,
        loaded_since as event_at,
        {{ sequence_struct(
            'position', resync_index('resync_number'), '-1', '-1L', '-1'
        ) }} as sequence,
        topic,
        false as is_revision
    from resyncs

)

select * from truncations
