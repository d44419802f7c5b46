{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The number of messages of each kind that each run read.  `cdc-marts status`
-- reads these few rows instead of the messages.  Rejected messages are not
-- counted here, because a later run may read them successfully.  Staging has
-- them in a partition of their own, so they are quickly counted there.

with

messages as (
    {% for source_format in formats_with_rows(var('source_formats') | list) %}
    select
        source_format,
        topic,
        record_type,
        event_at,
        landed_at
    from {{ new_rows(ref('stg_' ~ source_format)) }}
    where row_index = 0 and record_type <> 'rejected'
    {{ "union all" if not loop.last }}
    {% endfor %}
),

-- `last_event_at` is never later than the landing.  Otherwise one source whose
-- clock is ahead would hide the lag of the other sources.
message_counts as (

    select
        source_format,
        topic,
        record_type,
        count(*) as message_count,
        max(if(event_at is null, null, least(event_at, landed_at)))
            as last_event_at,
        max(landed_at) as last_landed_at
    from messages
    group by source_format, topic, record_type

)

select * from message_counts
