-- Key changes that a format reports as a delete of the old key and an insert of
-- the new key, at one log position and in one transaction.  If messages name no
-- transaction, changes of one time count as one transaction.  A delete and an
-- insert are one key change in two cases:
--
-- - The insert follows the delete in a partition, directly or with one message
--   between them, which is usually the tombstone of the old key.  It is enough
--   if this is true for redeliveries of the two, also in another topic, but not
--   if the insert was delivered there before the delete.  If a delete or an
--   insert has several such neighbours, the nearest one is used.
-- - Their transaction has no other delete or insert of the table at their
--   position.

{%- set delivered_event = [
    'source_format', 'event_id', 'topic', '`partition`'
] %}

with

-- An event may be listed at several places, because another delivery of it
-- counts now.  Earlier places are deliveries too.
deletes_and_inserts as (

    select
        source_format,
        table_id,
        event_id,
        {{ transaction_of_effect() }} as `transaction`,
        row_key,
        op = 'delete' as is_delete,
        -- not raised: the two messages have the same one
        max(message_position) as position,
        max_by(topic, sequence) as topic,
        collect_set(struct(topic, sequence.`partition`, sequence.offset))
            as messages
    from {{ ref('int_key_changes') }}
    where
        op in ('insert', 'delete')
        and {{ is_of_format_that('splits_key_changes') }}
    group by
        source_format,
        table_id,
        event_id,
        {{ transaction_of_effect() }},
        row_key,
        op

),

deliveries as (

    select
        listed.* except (topic, messages),
        message.topic,
        message.`partition`,
        message.offset
    from deletes_and_inserts as listed
        lateral view explode(listed.messages) exploded as message

    union

    select
        listed.* except (topic, messages),
        redeliveries.topic,
        redeliveries.`partition`,
        redeliveries.offset
    from deletes_and_inserts as listed
    inner join {{ ref('int_exceptional_records') }} as redeliveries
        on
            {{ matches('listed', 'redeliveries', [
                'source_format', 'event_id'
            ]) }}
            and redeliveries.exception = 'redelivery'

),

-- After a restart, a producer delivers messages again.  So a delete may stand
-- before an insert that had come before it.
first_deliveries as (

    select
        source_format,
        event_id,
        topic,
        `partition`,
        min(offset) as first_offset
    from deliveries
    group by source_format, event_id, topic, `partition`

),

neighbours as (

    select
        deletes.source_format,
        deletes.table_id,
        deletes.event_id as delete_id,
        inserts.event_id as insert_id,
        deletes.row_key as old_key,
        inserts.row_key as new_key,
        inserts.topic,
        inserts.`partition`,
        deletes.offset as delete_offset,
        inserts.offset as insert_offset
    from deliveries as deletes
    inner join deliveries as inserts
        on
            {{ matches('deletes', 'inserts', columns_of_table() + [
                'position', 'topic', '`partition`'
            ]) }}
            and deletes.`transaction` <=> inserts.`transaction`
            and inserts.offset - deletes.offset in (1, 2)
            and deletes.row_key <> inserts.row_key
    inner join first_deliveries as first_deletes
        on {{ matches('deletes', 'first_deletes', delivered_event) }}
    inner join first_deliveries as first_inserts
        on {{ matches('inserts', 'first_inserts', delivered_event) }}
    where
        deletes.is_delete
        and not inserts.is_delete
        and first_deletes.first_offset < first_inserts.first_offset

),

ranked_neighbours as (

    select
        *,
        row_number() over (
            partition by source_format, table_id, delete_id
            order by
                insert_offset - delete_offset, topic, `partition`, insert_offset
        ) as rank_for_delete,
        row_number() over (
            partition by source_format, table_id, insert_id
            order by
                insert_offset - delete_offset, topic, `partition`, insert_offset
        ) as rank_for_insert
    from neighbours

),

-- Each delete and each insert belongs to one key change at most.
nearest_neighbours as (

    select * except (rank_for_delete, rank_for_insert)
    from ranked_neighbours
    where rank_for_delete = 1 and rank_for_insert = 1

),

lone_pairs as (

    select
        source_format,
        table_id,
        max(if(is_delete, event_id, null)) as delete_id,
        max(if(is_delete, null, event_id)) as insert_id,
        max(if(is_delete, row_key, null)) as old_key,
        max(if(is_delete, null, row_key)) as new_key
    from deletes_and_inserts
    group by
        source_format,
        table_id,
        position,
        `transaction`,
        -- without a position, only the topic shows that they belong together
        if(position is null, topic, null)
    having
        count_if(is_delete) = 1
        and count_if(not is_delete) = 1
        and min(row_key) <> max(row_key)

)

select * from nearest_neighbours

union all

select
    lone_pairs.*,
    null as topic,
    null as `partition`,
    null as delete_offset,
    null as insert_offset
from lone_pairs
left anti join nearest_neighbours
    on {{ matches(
        'lone_pairs',
        'nearest_neighbours',
        columns_of_table() + ['delete_id', 'insert_id'],
    ) }}
