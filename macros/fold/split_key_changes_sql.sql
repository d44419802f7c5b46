{#-
  Query of key changes that a format reports as a delete of the old key and an
  insert of the new one, at one log position, in one transaction: the insert right
  behind the delete in its partition, or behind the delete's tombstone.  Where
  keys are spread over partitions, a delete and an insert are one key change if
  their position has no other ones.

  Gives source_format, table_id, delete_id, insert_id (event ids), old_key.

  effects: relation of all effects.  inserts: those whose deletes are asked for,
  by default all.
-#}
{% macro split_key_changes_sql(effects, inserts=none) -%}
{%- set table_key = ['source_format', 'table_id', 'topic'] -%}
with

deletes_and_inserts as (

    select
        effects.source_format,
        effects.table_id,
        effects.topic,
        effects.sequence,
        effects.sequence.position,
        effects.transaction_id,
        effects.event_id,
        effects.row_key,
        effects.effect = 'removal' as is_delete
    from {{ effects }} as effects
    {% if inserts -%}
    left semi join {{ inserts }} as inserts
        on
            {{ matches('effects', 'inserts', table_key) }}
            and effects.sequence.position = inserts.sequence.position
            and effects.transaction_id <=> inserts.transaction_id
            and inserts.op = 'insert'
    {%- endif %}
    where
        effects.{{ is_split_format() }}
        and (
            (effects.effect = 'removal' and effects.op = 'delete')
            or (effects.effect = 'upsert' and effects.op = 'insert')
        )

),

neighbours as (

    select
        deletes.source_format,
        deletes.table_id,
        deletes.event_id as delete_id,
        inserts.event_id as insert_id,
        deletes.row_key as old_key
    from deletes_and_inserts as deletes
    inner join deletes_and_inserts as inserts
        on
            {{ matches('deletes', 'inserts', table_key + ['position']) }}
            and deletes.transaction_id <=> inserts.transaction_id
            and deletes.sequence.`partition` = inserts.sequence.`partition`
            and inserts.sequence.offset - deletes.sequence.offset in (1, 2)
            and deletes.row_key <> inserts.row_key
    where deletes.is_delete and not inserts.is_delete

),

lone_pairs as (

    select
        source_format,
        table_id,
        max(if(is_delete, event_id, null)) as delete_id,
        max(if(is_delete, null, event_id)) as insert_id,
        max(if(is_delete, row_key, null)) as old_key
    from deletes_and_inserts
    group by source_format, table_id, topic, position, transaction_id
    having
        count_if(is_delete) = 1
        and count_if(not is_delete) = 1
        and min(row_key) <> max(row_key)

)

select * from neighbours

union

select * from lone_pairs
{%- endmacro %}


{#- Condition that a format reports a key change as a delete and an insert. -#}
{% macro is_split_format() -%}
source_format in (
            {%- for name in formats_that('moves_rows_by_delete_and_insert') -%}
            '{{ name }}'{{ ", " if not loop.last }}
            {%- endfor -%}
        )
{%- endmacro %}
