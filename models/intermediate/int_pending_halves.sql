-- The before halves of updates whose other half has not landed.

with

redeliveries as (

    select * from {{ ref('int_exceptional_records') }}
    where exception = 'redelivery'

),

halves as (

    select records.*
    from {{ ref('int_split_records') }} as records
    left anti join redeliveries
        on {{ is_same_record('records', 'redeliveries') }}
    where records.pairing_id is not null

),

pending_halves as (

    select
        halves.source_format,
        halves.topic,
        halves.`partition`,
        halves.offset,
        halves.row_index,
        halves.pairing_id
    from halves
    left anti join halves as updates
        on
            {{ matches('halves', 'updates', ['source_format', 'pairing_id']) }}
            and updates.record_type = 'change'
    where halves.record_type = 'update_before'

)

select * from pending_halves
