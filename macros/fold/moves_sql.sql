{#-
  Query of the moves of rows whose events did not carry all columns: a row that
  moved to another key takes its missing values from the old one.  The update
  removes it there, or a delete at the same log position does.

  touched: effects; only moves in their tables are found.
-#}
{% macro moves_sql(touched) -%}
with

partial_tables as ({{ partial_tables_sql(touched) }}),

effects as (

    select all_effects.*
    from {{ ref('int_row_effects') }} as all_effects
    left semi join partial_tables
        on {{ matches('all_effects', 'partial_tables', ['source_format', 'table_id']) }}
    where not all_effects.is_keyless

)

select distinct
    moved.source_format,
    moved.table_id,
    moved.row_key,
    moved.event_id,
    removed.row_key as origin_key,
    removed.event_id as removal_id
from effects as moved
inner join effects as removed
    on
        {{ matches('moved', 'removed', ['source_format', 'table_id']) }}
        and moved.sequence.position <=> removed.sequence.position
        and moved.row_key <> removed.row_key
where
    moved.is_partial
    and moved.effect = 'upsert'
    and removed.effect = 'removal'
    and (
        moved.event_id = removed.event_id
        or moved.op = 'insert'
        and removed.op = 'delete'
        and moved.sequence.position is not null
        and moved.transaction_id <=> removed.transaction_id
    )
{%- endmacro %}
