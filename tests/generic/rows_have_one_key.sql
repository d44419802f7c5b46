{#-
  All live rows of a table are known by the same key columns.  When a table gets
  another key, its older rows keep the old one until they change, and may then be
  there twice.  A warning names the table; `cdc-marts resync` ends the old rows.

  model: rows of tables with keys, as in `int_row_state`.
-#}
{% test rows_have_one_key(model) %}

{{ config(severity='warn') }}

with

live_rows as (

    select
        source_format,
        table_id,
        array_join(array_sort(json_object_keys(row_key)), ', ') as key_columns,
        last_event_at
    from {{ model }}
    where is_live

),

rows_by_key as (

    select
        source_format,
        table_id,
        key_columns,
        count(*) as live_rows,
        max(last_event_at) as last_event_at
    from live_rows
    group by source_format, table_id, key_columns

),

validation_errors as (

    select
        source_format,
        table_id,
        array_sort(collect_list(struct(
            last_event_at, key_columns, live_rows
        ))) as keys
    from rows_by_key
    group by source_format, table_id
    having count(*) > 1

)

select * from validation_errors

{% endtest %}
