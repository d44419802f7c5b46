with

live_rows as (

    select * from {{ ref('int_row_state') }}
    where is_live

),

table_ends as (select * from {{ ref('int_table_ends') }}),

table_columns as (select * from {{ ref('int_table_columns') }}),

-- Rows of keyless tables that a table's end took are out of their counts
-- already.
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
        outliving_rows.source_format,
        outliving_rows.table_id,
        outliving_rows.database_name,
        outliving_rows.schema_name,
        outliving_rows.table_name,
        outliving_rows.row_key,
        {{ without_dropped_columns(
            'outliving_rows.`row`',
            'outliving_rows.last_sequence',
            'table_columns',
        ) }} as `row`,
        outliving_rows.row_count,
        outliving_rows.last_op,
        outliving_rows.last_event_id,
        outliving_rows.last_event_at,
        outliving_rows.last_sequence,
        outliving_rows.first_event_at
    from outliving_rows
    left join table_columns
        on
            outliving_rows.source_format = table_columns.source_format
            and outliving_rows.table_id = table_columns.table_id

)

select * from current_rows
