{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- What became of the messages that each run read, counted once: whoever asks
-- later reads a few rows per run instead of the messages.  Rejected messages
-- are left out: they may be read again, and staging has them apart.

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

-- A source whose clock is ahead does not hide how old its other events are.
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
