{#- What rows of tables with and without keys have in common. -#}
{%- set state_columns -%}
source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        row_key,
        row_count,
        last_op,
        last_event_id,
        schema_id,
        last_event_at,
        last_sequence,
        first_event_at
{%- endset %}

with

row_state as (select * from {{ ref('int_row_state') }}),

filled_rows as (select * from {{ ref('int_filled_rows') }}),

keyless_rows as (select * from {{ ref('int_keyless_rows') }}),

table_ends as (select * from {{ ref('int_table_ends') }}),

lost_columns as (
    {{ lost_columns_of_tables_sql() }}
),

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
            ) }}
    where row_state.is_live

),

keyed_rows as (

    select
        live_rows.* except (`row`),
        coalesce(filled_rows.`row`, live_rows.`row`) as `row`,
        filled_rows.filled_from
    from live_rows
    left join filled_rows
        on
            live_rows.source_format = filled_rows.source_format
            and live_rows.last_event_id = filled_rows.event_id

),

-- A table that gets a key of all its columns knows its rows by the same key as
-- before: from then on they are single.
rekeyed_rows as (

    select
        row_state.source_format,
        row_state.table_id,
        row_state.row_key
    from row_state
    left semi join keyless_rows
        on
            {{ matches('row_state', 'keyless_rows') }}
            and row_state.last_sequence > keyless_rows.last_sequence

),

rows_without_key as (

    select keyless_rows.*
    from keyless_rows
    left anti join rekeyed_rows
        on {{ matches('keyless_rows', 'rekeyed_rows') }}
    where keyless_rows.row_count > 0

),

current_rows as (

    select
        {{ state_columns }},
        `row`,
        filled_from
    from keyed_rows

    union all

    select
        {{ state_columns }},
        parse_json(row_key) as `row`,
        null as filled_from
    from rows_without_key

),

compared_rows as (

    select
        current_rows.* except (`row`),
        lost_columns.lost_columns,
        {{ without_lost_values(
            'current_rows.`row`',
            'current_rows.last_sequence',
            'current_rows.filled_from',
            'lost_columns.lost_columns',
        ) }} as `row`
    from current_rows
    left join lost_columns
        on {{ matches(
            'current_rows', 'lost_columns', ['source_format', 'table_id']
        ) }}

),

latest_state as (

    select
        source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        row_key,
        {{ without_dropped_columns(
            '`row`', 'last_sequence', 'lost_columns'
        ) }} as `row`,
        row_count,
        last_op,
        last_event_id,
        schema_id,
        last_event_at,
        last_sequence,
        first_event_at
    from compared_rows

)

select * from latest_state
