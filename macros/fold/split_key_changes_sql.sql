{#-
  Query of key changes that a format reports as a delete of the old key and an
  insert of the new one: at one log position, in one transaction, the insert
  right behind the delete in the partition, or behind the delete's tombstone.

  Gives source_format, table_id, delete_id, insert_id (event ids), old_key.

  effects: relation of all effects.  inserts: those whose deletes are asked for,
  by default all.
-#}
{% macro split_key_changes_sql(effects, inserts=none) -%}
select
    deletes.source_format,
    deletes.table_id,
    deletes.event_id as delete_id,
    inserts.event_id as insert_id,
    deletes.row_key as old_key
from {{ effects }} as deletes
inner join {{ inserts or effects }} as inserts
    on
        {{ matches('deletes', 'inserts', ['source_format', 'table_id', 'topic']) }}
        and deletes.sequence.`partition` = inserts.sequence.`partition`
        and deletes.sequence.position = inserts.sequence.position
        and deletes.transaction_id <=> inserts.transaction_id
        and deletes.row_key <> inserts.row_key
        and inserts.sequence.offset - deletes.sequence.offset in (1, 2)
where
    deletes.effect = 'removal'
    and deletes.op = 'delete'
    and deletes.{{ is_split_format() }}
    and inserts.effect = 'upsert'
    and inserts.op = 'insert'
{%- endmacro %}


{#- Condition that a format reports a key change as a delete and an insert. -#}
{% macro is_split_format() -%}
source_format in (
            {%- for name in formats_that('moves_rows_by_delete_and_insert') -%}
            '{{ name }}'{{ ", " if not loop.last }}
            {%- endfor -%}
        )
{%- endmacro %}
