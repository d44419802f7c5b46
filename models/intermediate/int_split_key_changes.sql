-- Key changes that a format reports as a delete of the old key and an insert of
-- the new key, at one log position and in one transaction.  If messages name no
-- transaction, changes of one time count as one transaction.  A delete and an
-- insert are one key change in two cases:
--
-- - The insert directly follows the delete in their partition; a tombstone of
--   the old key may stand between them.  A redelivery of the delete counts as
--   the delete.
-- - Their transaction has no other delete or insert of the table at their
--   position.

{%- set table_key = ['source_format', 'table_id', 'topic'] %}

with

-- An event may be listed at several places, for example because another
-- delivery of it counts now.  The highest place is used.
deletes_and_inserts as (

    select
        source_format,
        table_id,
        topic,
        event_id,
        {{ transaction_of_effect() }} as `transaction`,
        row_key,
        op = 'delete' as is_delete,
        max(sequence) as sequence,
        max(sequence).position as position
    from {{ ref('int_key_changes') }}
    where
        op in ('insert', 'delete')
        and {{ is_of_format_that('moves_rows_by_delete_and_insert') }}
    group by
        source_format,
        table_id,
        topic,
        event_id,
        {{ transaction_of_effect() }},
        row_key,
        op

),

delivered_deletes as (

    select
        *,
        sequence.`partition`,
        sequence.offset
    from deletes_and_inserts
    where is_delete

    union all

    select
        deletes.*,
        redeliveries.`partition`,
        redeliveries.offset
    from deletes_and_inserts as deletes
    inner join {{ ref('int_exceptional_records') }} as redeliveries
        on
            {{ matches('deletes', 'redeliveries', [
                'source_format', 'topic', 'event_id'
            ]) }}
            and redeliveries.exception = 'redelivery'
    where deletes.is_delete

),

neighbours as (

    select
        deletes.source_format,
        deletes.table_id,
        deletes.event_id as delete_id,
        inserts.event_id as insert_id,
        deletes.row_key as old_key,
        inserts.row_key as new_key
    from delivered_deletes as deletes
    inner join deletes_and_inserts as inserts
        on
            {{ matches('deletes', 'inserts', table_key + ['position']) }}
            and deletes.`transaction` <=> inserts.`transaction`
            and deletes.`partition` = inserts.sequence.`partition`
            and inserts.sequence.offset - deletes.offset in (1, 2)
            and deletes.row_key <> inserts.row_key
    where not inserts.is_delete

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
    group by source_format, table_id, topic, position, `transaction`
    having
        count_if(is_delete) = 1
        and count_if(not is_delete) = 1
        and min(row_key) <> max(row_key)

)

select * from neighbours

union

select * from lone_pairs
