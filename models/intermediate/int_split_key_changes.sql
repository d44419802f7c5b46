-- Key changes that a format reports as a delete of the old key and an insert of
-- the new key, at one log position and in one transaction.  If messages name no
-- transaction, changes of one time count as one transaction.  A delete and an
-- insert are one key change in two cases:
--
-- - The insert directly follows the delete in a partition; a tombstone of the
--   old key may stand between them.  Redeliveries of the two count as they do,
--   also in another topic.
-- - Their transaction has no other delete or insert of the table at their
--   position.

{%- set table_key = ['source_format', 'table_id'] %}

with

-- An event may be listed at several places, for example because another
-- delivery of it counts now.  The highest place is used.
deletes_and_inserts as (

    select
        source_format,
        table_id,
        event_id,
        {{ transaction_of_effect() }} as `transaction`,
        row_key,
        op = 'delete' as is_delete,
        max_by(topic, sequence) as topic,
        max(sequence) as sequence,
        max(sequence).position as position
    from {{ ref('int_key_changes') }}
    where
        op in ('insert', 'delete')
        and {{ is_of_format_that('moves_rows_by_delete_and_insert') }}
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
        * except (topic),
        topic,
        sequence.`partition`,
        sequence.offset
    from deletes_and_inserts

    union all

    select
        counted.* except (topic),
        redeliveries.topic,
        redeliveries.`partition`,
        redeliveries.offset
    from deletes_and_inserts as counted
    inner join {{ ref('int_exceptional_records') }} as redeliveries
        on
            {{ matches('counted', 'redeliveries', [
                'source_format', 'event_id'
            ]) }}
            and redeliveries.exception = 'redelivery'

),

neighbours as (

    select
        deletes.source_format,
        deletes.table_id,
        deletes.event_id as delete_id,
        inserts.event_id as insert_id,
        deletes.row_key as old_key,
        inserts.row_key as new_key
    from deliveries as deletes
    inner join deliveries as inserts
        on
            {{ matches('deletes', 'inserts', table_key + [
                'position', 'topic', '`partition`'
            ]) }}
            and deletes.`transaction` <=> inserts.`transaction`
            and inserts.offset - deletes.offset in (1, 2)
            and deletes.row_key <> inserts.row_key
    where deletes.is_delete and not inserts.is_delete

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

select * from neighbours

union

select * from lone_pairs
