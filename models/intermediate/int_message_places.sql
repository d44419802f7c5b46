{{
    config(
        materialized='incremental',
        incremental_strategy='merge',
        unique_key=['source_format', 'topic', 'partition', 'offset'],
    )
}}

-- The places of messages that do not stand at their own position.  There are
-- two cases: an earlier message of the partition raises the message, or the
-- message belongs to a full load that repairs a table.

with

reloaded_messages as (
    select * from {{ rows_so_far(ref('int_reloaded_messages')) }}
),

raised_messages as (

    select
        raised.source_format,
        raised.topic,
        raised.`partition`,
        raised.offset,
        max(raised.position) as position,
        cast(null as bigint) as transaction_index
    from {{ new_rows(ref('int_raised_messages')) }} as raised
    left anti join reloaded_messages
        on {{ matches('raised', 'reloaded_messages', columns_of_message()) }}
    group by
        raised.source_format,
        raised.topic,
        raised.`partition`,
        raised.offset

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
