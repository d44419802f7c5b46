{{
    config(
        materialized='incremental',
        incremental_strategy='merge',
        unique_key=['source_format', 'topic', 'partition', 'offset'],
    )
}}

-- The places of messages that do not stand at their own position.  There are
-- two cases: an earlier message of the partition has a higher position, or the
-- message belongs to a full load that repairs a table.

with

reloaded_messages as (
    select * from {{ rows_so_far(ref('int_reloaded_messages')) }}
),

raised_messages as (

    select
        raised_positions.source_format,
        raised_positions.topic,
        raised_positions.`partition`,
        raised_positions.offset,
        max(raised_positions.position) as position,
        cast(null as bigint) as transaction_index
    from {{ new_rows(ref('int_raised_positions')) }} as raised_positions
    left anti join reloaded_messages
        on {{ matches(
            'raised_positions', 'reloaded_messages', columns_of_message()
        ) }}
    group by
        raised_positions.source_format,
        raised_positions.topic,
        raised_positions.`partition`,
        raised_positions.offset

),

message_places as (

    select * from raised_messages

    union all

    select
        source_format,
        topic,
        `partition`,
        offset,
        max_by(position, transaction_index) as position,
        max(transaction_index) as transaction_index
    from {{ new_rows(ref('int_reloaded_messages')) }}
    group by source_format, topic, `partition`, offset

)

select * from message_places
