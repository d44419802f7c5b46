{#-
  A row has all columns that its table has now.  A row lacks a column if no
  event carried its value: an insert left the column to its default, ADD COLUMN
  gave it a value, or the column was renamed after the row was last written.  A
  warning names the tables and the columns; a new full load fills them.

  model: rows as in `latest_state`.  columns: as `int_table_columns`.
-#}
{% test rows_have_all_columns(model, columns) %}

{{ config(severity='warn') }}

with

live_rows as (

    select
        source_format,
        table_id,
        last_event_at,
        map_keys(cast(`row` as map<string, variant>)) as column_names
    from {{ model }}

),

table_columns as (

    select
        source_format,
        table_id,
        collect_set(column_name) as column_names
    from {{ columns }}
    where lost_sequence is null
    group by source_format, table_id

),

missing_columns as (

    select
        live_rows.source_format,
        live_rows.table_id,
        live_rows.last_event_at,
        array_sort(
            array_except(table_columns.column_names, live_rows.column_names)
        ) as column_names
    from live_rows
    inner join table_columns
        on {{ matches('live_rows', 'table_columns', columns_of_table()) }}

),

validation_errors as (

    select
        source_format,
        table_id,
        column_names,
        count(*) as live_rows,
        max(last_event_at) as last_event_at
    from missing_columns
    where size(column_names) > 0
    group by source_format, table_id, column_names

)

select * from validation_errors

{% endtest %}
