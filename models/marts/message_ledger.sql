-- Both sides are counted where they are: what landed in the landing tables,
-- what became of it in staging.
with

landed_messages as (select * from {{ ref('int_landed_messages') }}),

records as (select * from {{ ref('int_records') }}),

events as (select * from {{ ref('change_events') }}),

landed as (

    select
        source_format,
        topic,
        `partition`,
        count(distinct offset) as landed
    from landed_messages
    group by source_format, topic, `partition`

),

read as (

    select
        source_format,
        topic,
        `partition`,
        count_if(record_type = 'change') as `change`,
        count_if(record_type = 'update_before') as update_before,
        count_if(record_type = 'ddl') as ddl,
        count_if(record_type = 'transaction') as `transaction`,
        count_if(record_type = 'heartbeat') as heartbeat,
        count_if(record_type = 'tombstone') as tombstone,
        count_if(record_type = 'rejected') as rejected
    from records
    where row_index = 0
    group by source_format, topic, `partition`

),

row_changes as (

    select
        records.source_format,
        records.topic,
        records.`partition`,
        count(*) as read_changes,
        count(events.event_id) as row_changes
    from records
    left join events
        on
            records.source_format = events.source_format
            and records.topic = events.topic
            and records.`partition` = events.`partition`
            and records.offset = events.offset
            and records.row_index = events.row_index
    where records.record_type = 'change'
    group by records.source_format, records.topic, records.`partition`

),

pending_halves as (

    select
        before_halves.source_format,
        before_halves.topic,
        before_halves.`partition`,
        count(*) as pending_update_before
    from records as before_halves
    left anti join events
        on before_halves.pairing_id = events.pairing_id
    where before_halves.record_type = 'update_before'
    group by
        before_halves.source_format,
        before_halves.topic,
        before_halves.`partition`

),

ledger as (

    select
        coalesce(landed.source_format, read.source_format) as source_format,
        coalesce(landed.topic, read.topic) as topic,
        coalesce(landed.`partition`, read.`partition`) as `partition`,
        coalesce(landed.landed, 0) as landed,
        coalesce(read.`change`, 0) as `change`,
        coalesce(read.update_before, 0) as update_before,
        coalesce(read.ddl, 0) as ddl,
        coalesce(read.`transaction`, 0) as `transaction`,
        coalesce(read.heartbeat, 0) as heartbeat,
        coalesce(read.tombstone, 0) as tombstone,
        coalesce(read.rejected, 0) as rejected,
        coalesce(row_changes.row_changes, 0) as row_changes,
        coalesce(row_changes.read_changes - row_changes.row_changes, 0)
            as redelivered,
        coalesce(pending_halves.pending_update_before, 0)
            as pending_update_before
    from landed
    full outer join read
        on
            landed.source_format = read.source_format
            and landed.topic = read.topic
            and landed.`partition` = read.`partition`
    left join row_changes
        on
            read.source_format = row_changes.source_format
            and read.topic = row_changes.topic
            and read.`partition` = row_changes.`partition`
    left join pending_halves
        on
            read.source_format = pending_halves.source_format
            and read.topic = pending_halves.topic
            and read.`partition` = pending_halves.`partition`

)

select * from ledger
