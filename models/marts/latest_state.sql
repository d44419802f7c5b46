with

live_rows as (

    select * from {{ ref('int_row_state') }}
    where is_live

),

table_ends as (select * from {{ ref('int_table_ends') }}),

-- Rows of keyless tables that a table's end took are out of their counts already.
outliving_rows as (

    select live_rows.*
    from live_rows
    left anti join table_ends
        on
            not live_rows.is_keyless
            and live_rows.source_format = table_ends.source_format
            and live_rows.table_id = table_ends.table_id
            and {{ is_ended_by(
                'live_rows',
                'table_ends',
                sequence='last_sequence',
                event_at='last_event_at',
            ) }}

),

current_rows as (

    select
        source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        row_key,
        `row`,
        row_count,
        last_op,
        last_event_id,
        last_event_at,
        last_sequence,
        first_event_at
    from outliving_rows

)

select * from current_rows
