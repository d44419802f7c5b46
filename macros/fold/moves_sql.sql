{#-
  Query of the moves of rows whose images were partial: a row that moved to
  another key takes its missing values from the old one.  Its own update says
  which that is, or where a format reports a key change as a delete and an insert,
  the delete right before the insert.

  touched: effects; only moves in their tables are found.
-#}
{% macro moves_sql(touched) -%}
{%- set table_key = ['source_format', 'table_id'] -%}
with

partial_tables as ({{ partial_tables_sql(touched) }}),

effects as ({{ effects_by_image_sql('partial_tables', table_key) }}),

upserts as (

    select * from effects
    where effect = 'upsert' and is_partial

),

removals as (

    select * from effects
    where effect = 'removal'

),

key_changes as (

    select
        upserts.source_format,
        upserts.table_id,
        upserts.row_key,
        upserts.event_id,
        removals.row_key as origin_key,
        removals.event_id as removal_id
    from upserts
    inner join removals
        on
            {{ matches('upserts', 'removals', table_key + ['event_id']) }}
            and upserts.row_key <> removals.row_key

),

split_key_changes as ({{ split_key_changes_sql('effects') }}),

-- Between the two stands a tombstone, not another change of a row.
moves_by_delete_and_insert as (

    select
        inserts.source_format,
        inserts.table_id,
        inserts.row_key,
        inserts.event_id,
        split_key_changes.old_key as origin_key,
        split_key_changes.delete_id as removal_id
    from upserts as inserts
    inner join split_key_changes
        on
            {{ matches('inserts', 'split_key_changes', table_key) }}
            and inserts.event_id = split_key_changes.insert_id
    inner join removals as deletes
        on
            {{ matches('split_key_changes', 'deletes', table_key) }}
            and split_key_changes.delete_id = deletes.event_id
    left anti join effects as others
        on
            {{ matches('inserts', 'others', table_key + ['topic']) }}
            and inserts.sequence.`partition` = others.sequence.`partition`
            and inserts.sequence.`partition` = deletes.sequence.`partition`
            and inserts.sequence.offset > others.sequence.offset
            and deletes.sequence.offset < others.sequence.offset

),

moves as (

    select * from key_changes

    union

    select * from moves_by_delete_and_insert

)

select * from moves
{%- endmacro %}
