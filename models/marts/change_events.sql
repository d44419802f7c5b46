-- A view: it says what staging holds, so that no event is written twice.

with

records as (select * from {{ ref('int_records') }}),

redeliveries as (

    select * from {{ ref('int_row_effects') }}
    where effect = 'redelivery'

),

first_deliveries as (

    select records.*
    from records
    left anti join redeliveries
        on
            records.source_format = redeliveries.source_format
            and records.topic = redeliveries.topic
            and records.sequence = redeliveries.sequence
            and records.event_id = redeliveries.event_id
    where records.record_type in ('change', 'update_before')

),

whole_events as (

    select * from first_deliveries
    where record_type = 'change' and pairing_id is null

),

after_halves as (

    select * from first_deliveries
    where record_type = 'change' and pairing_id is not null

),

before_halves as (

    select * from first_deliveries
    where record_type = 'update_before'

),

joined_halves as (

    select
        after_halves.* except (before, previous_row_key, landed_at),
        before_halves.before,
        before_halves.row_key as previous_row_key,
        greatest(after_halves.landed_at, before_halves.landed_at)
            as landed_at
    from after_halves
    left join before_halves
        on
            after_halves.source_format = before_halves.source_format
            and after_halves.pairing_id = before_halves.pairing_id

),

change_events as (

    select {{ change_event_columns() }}
    from whole_events

    union all

    select {{ change_event_columns() }}
    from joined_halves

)

select * from change_events
