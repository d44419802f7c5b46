with

records as (select * from {{ ref('int_records') }}),

heartbeats as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        source_type,
        database_name,
        source_op,
        unix_millis(landed_at) - unix_millis(event_at) as lag_ms,
        event_at,
        checkpoint_at,
        landed_at
    from records
    where record_type = 'heartbeat'

)

select * from heartbeats
