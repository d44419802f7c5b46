{{
    config(
        materialized='incremental',
        incremental_strategy='append',
        pre_hook='{{ amend_split_updates() }}',
    )
}}

with

new_records as (select * from {{ new_rows(ref('int_records')) }}),

all_records as (select * from {{ ref('int_records') }}),

new_changes as (

    select * from new_records
    where record_type = 'change'

),

-- A redelivery has the event id of what it repeats; an id made from the
-- coordinates (it holds a colon) has none.  Only ids and coordinates travel.
identified as (

    select
        event_id,
        topic,
        `partition`,
        offset,
        row_index,
        row_number() over (
            partition by event_id
            order by landed_at, topic, `partition`, offset, row_index
        ) as delivery
    from new_changes
    where instr(event_id, ':') = 0

),

{% if is_incremental() %}
known as (

    select distinct identified.event_id
    from identified
    inner join {{ this }} as events
        on identified.event_id = events.event_id

),
{% endif %}

redelivered as (

    select identified.*
    from identified
    {% if is_incremental() %}
    left join known
        on identified.event_id = known.event_id
    where identified.delivery > 1 or known.event_id is not null
    {% else %}
    where identified.delivery > 1
    {% endif %}

),

first_delivered as (

    select new_changes.*
    from new_changes
    left anti join redelivered
        on
            new_changes.topic = redelivered.topic
            and new_changes.`partition` = redelivered.`partition`
            and new_changes.offset = redelivered.offset
            and new_changes.row_index = redelivered.row_index
            and new_changes.event_id = redelivered.event_id

),

-- The other halves of split updates, whichever run they landed in.
before_halves as (

    select
        pairing_id,
        before,
        row_key,
        landed_at,
        row_number() over (
            partition by pairing_id
            order by landed_at, topic, `partition`, offset
        ) as delivery
    from all_records
    where
        record_type = 'update_before'
        and pairing_id in (
            select after_halves.pairing_id from new_changes as after_halves
            where after_halves.pairing_id is not null
        )

),

paired as (

    select
        after_halves.* except (before, previous_row_key, landed_at),
        before_halves.before,
        nullif(before_halves.row_key, after_halves.row_key)
            as previous_row_key,
        greatest(after_halves.landed_at, before_halves.landed_at)
            as landed_at
    from first_delivered as after_halves
    left join before_halves
        on
            after_halves.pairing_id = before_halves.pairing_id
            and before_halves.delivery = 1
    where after_halves.pairing_id is not null

),

events as (

    select {{ change_event_columns() }}
    from first_delivered
    where pairing_id is null

    union all

    select {{ change_event_columns() }}
    from paired

)

select * from events
