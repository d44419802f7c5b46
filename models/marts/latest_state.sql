with

row_state as (select * from {{ ref('int_row_state') }}),

completed_rows as (select * from {{ ref('int_completed_rows') }}),

keyless_rows as (select * from {{ ref('int_keyless_rows') }}),

table_ends as (select * from {{ ref('int_table_ends') }}),

table_listings as (select * from {{ ref('int_table_listings') }}),

live_rows as (

    select
        row_state.*,
        1L as row_count
    from row_state
    left anti join table_ends
        on
            row_state.source_format = table_ends.source_format
            and row_state.table_id = table_ends.table_id
            and {{ is_ended_by(
                'row_state',
                'table_ends',
                sequence='last_sequence',
                event_at='last_event_at',
            ) }}
    where row_state.is_live

),

whole_rows as (

    select
        live_rows.*,
        coalesce(
            {{ without_lost_values(
                'completed_rows',
                'live_rows.last_sequence',
                'table_listings.listings',
            ) }},
            live_rows.`row`
        ) as whole_row
    from live_rows
    left join completed_rows
        on
            live_rows.is_partial
            and live_rows.source_format = completed_rows.source_format
            and live_rows.last_event_id = completed_rows.event_id
    left join table_listings
        on {{ matches(
            'completed_rows', 'table_listings', ['source_format', 'table_id']
        ) }}

),

current_rows as (

    select
        {{ state_columns() }},
        whole_row as `row`
    from whole_rows

    union all

    select
        {{ state_columns() }},
        parse_json(row_key) as `row`
    from keyless_rows
    where row_count > 0

),

latest_state as (

    select
        current_rows.source_format,
        current_rows.table_id,
        current_rows.database_name,
        current_rows.schema_name,
        current_rows.table_name,
        current_rows.row_key,
        {{ without_dropped_columns(
            'current_rows.`row`',
            'current_rows.last_sequence',
            'current_rows.schema_id',
            'table_listings.listings',
        ) }} as `row`,
        current_rows.row_count,
        current_rows.last_op,
        current_rows.last_event_id,
        current_rows.schema_id,
        current_rows.last_event_at,
        current_rows.last_sequence,
        current_rows.first_event_at
    from current_rows
    left join table_listings
        on
            current_rows.source_format = table_listings.source_format
            and current_rows.table_id = table_listings.table_id

)

select * from latest_state
