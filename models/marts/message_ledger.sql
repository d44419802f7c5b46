-- The two sides of the ledger are counted independently: the landed messages in
-- the landing tables, and their kinds in staging.
with

landed_messages as (select * from {{ ref('int_landed_messages') }}),

records as (select * from {{ ref('int_records') }}),

redelivered_records as (

    select * from {{ ref('int_exceptional_records') }}
    where exception = 'redelivery'

),

halves as (select * from {{ ref('int_pending_halves') }}),

-- A message may have landed several times, also after it was removed or read.
messages as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        every(is_removed) as is_removed,
        every(is_waiting) as is_waiting
    from landed_messages
    group by source_format, topic, `partition`, offset

),

landed as (

    select
        source_format,
        topic,
        `partition`,
        count_if(not is_waiting) as landed,
        count_if(is_removed) as removed,
        count_if(is_waiting) as waiting
    from messages
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

changes as (

    select
        source_format,
        topic,
        `partition`,
        count(*) as row_changes
    from records
    where record_type = 'change'
    group by source_format, topic, `partition`

),

-- If `cdc-marts resync` moves a row of a load to a new place, the row has
-- another event id, so it is no longer a redelivery.
redeliveries as (

    select
        records.source_format,
        records.topic,
        records.`partition`,
        count(*) as redelivered
    from records
    left semi join redelivered_records
        on {{ is_same_record('records', 'redelivered_records') }}
    where records.record_type = 'change'
    group by records.source_format, records.topic, records.`partition`

),

pending_halves as (

    select
        source_format,
        topic,
        `partition`,
        count(*) as pending_update_before
    from halves
    group by source_format, topic, `partition`

),

ledger as (

    select
        coalesce(landed.source_format, read.source_format) as source_format,
        coalesce(landed.topic, read.topic) as topic,
        coalesce(landed.`partition`, read.`partition`) as `partition`,
        coalesce(landed.landed, 0) as landed,
        coalesce(landed.removed, 0) as removed,
        coalesce(landed.waiting, 0) as waiting,
        coalesce(read.`change`, 0) as `change`,
        coalesce(read.update_before, 0) as update_before,
        coalesce(read.ddl, 0) as ddl,
        coalesce(read.`transaction`, 0) as `transaction`,
        coalesce(read.heartbeat, 0) as heartbeat,
        coalesce(read.tombstone, 0) as tombstone,
        coalesce(read.rejected, 0) as rejected,
        coalesce(changes.row_changes, 0)
        - coalesce(redeliveries.redelivered, 0) as row_changes,
        coalesce(redeliveries.redelivered, 0) as redelivered,
        coalesce(pending_halves.pending_update_before, 0)
            as pending_update_before
    from landed
    full outer join read
        on
            landed.source_format = read.source_format
            and landed.topic = read.topic
            and landed.`partition` = read.`partition`
    left join changes
        on
            read.source_format = changes.source_format
            and read.topic = changes.topic
            and read.`partition` = changes.`partition`
    left join redeliveries
        on
            read.source_format = redeliveries.source_format
            and read.topic = redeliveries.topic
            and read.`partition` = redeliveries.`partition`
    left join pending_halves
        on
            read.source_format = pending_halves.source_format
            and read.topic = pending_halves.topic
            and read.`partition` = pending_halves.`partition`

)

select * from ledger
