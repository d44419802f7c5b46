-- The places of messages whose rows stand elsewhere than their own positions
-- say: a higher position of their partition stands before them, or they are of
-- a full load that repairs a table.

with

highest_positions as (

    select * from {{ ref('int_highest_positions') }}
    where is_raised

),

reloaded_messages as (select * from {{ ref('int_reloaded_messages') }}),

raised_messages as (

    select
        highest_positions.source_format,
        highest_positions.topic,
        highest_positions.`partition`,
        highest_positions.offset,
        max(highest_positions.position) as position,
        cast(null as bigint) as transaction_index
    from highest_positions
    left anti join reloaded_messages
        on {{ matches(
            'highest_positions',
            'reloaded_messages',
            ['source_format', 'topic', '`partition`', 'offset'],
        ) }}
    group by
        highest_positions.source_format,
        highest_positions.topic,
        highest_positions.`partition`,
        highest_positions.offset

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
    from reloaded_messages
    group by source_format, topic, `partition`, offset

)

select * from message_places
