{#-
  A column that SharePlex reports as dropped is gone.  The DROP COLUMN message
  names no column; only the next insert into the table shows which columns are
  left.  Until then, the rows still have the column, and a warning names the
  table.

  model: the statements, as in `ddl_events`.  events: the events, as in
  `change_events`.
-#}
{% test dropped_columns_are_gone(model, events) %}

{{ config(severity='warn') }}

with

drops as (

    select
        source_format,
        table_id,
        max(sequence) as last_drop,
        max(event_at) as dropped_at
    from {{ model }}
    where upper(source_op) = 'DROP COLUMN'
    group by source_format, table_id

),

rows_of_tables as (

    select
        source_format,
        table_id,
        min(sequence) as first_sequence,
        max(sequence) filter (where op = 'insert') as last_insert
    from {{ events }}
    group by source_format, table_id

),

validation_errors as (

    select
        drops.source_format,
        drops.table_id,
        drops.dropped_at
    from drops
    inner join rows_of_tables
        on {{ matches('drops', 'rows_of_tables', columns_of_table()) }}
    where
        rows_of_tables.first_sequence < drops.last_drop
        and (
            rows_of_tables.last_insert is null
            or rows_of_tables.last_insert < drops.last_drop
        )

)

select * from validation_errors

{% endtest %}
