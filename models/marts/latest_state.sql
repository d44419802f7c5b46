{#- The columns that rows of keyed tables and rows of keyless tables share. -#}
{%- set names_of_row -%}
source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        row_key
{%- endset %}
{%- set state_columns -%}
row_count,
        last_op,
        last_event_id,
        schema_id,
        last_event_at,
        last_sequence,
        first_event_at
{%- endset %}

with

row_state as (

    select
        *,
        {{ last_sequence() }} as last_sequence
    from {{ ref('int_row_state') }}

),

filled_rows as (select * from {{ ref('int_filled_rows') }}),

keyless_rows as (select * from {{ ref('int_keyless_rows') }}),

last_truncations as (
    {{ last_truncations_of_tables_sql(ref('int_truncations')) }}
),

lost_columns as (
    {{ lost_columns_of_tables_sql(ref('int_lost_columns')) }}
),

live_rows as (

    select
        row_state.*,
        1L as row_count
    from row_state
    left anti join last_truncations
        on
            {{ matches('row_state', 'last_truncations', columns_of_table()) }}
            and {{ is_truncated_by(
                'row_state',
                'last_truncations',
                sequence='last_sequence',
            ) }}
    where row_state.is_live

),

keyed_rows_of_keyless_tables as (

    select row_state.*
    from row_state
    left semi join keyless_rows
        on {{ matches('row_state', 'keyless_rows', columns_of_table()) }}

),

-- If a table gets a key of all its columns, or loses such a key, a row has the
-- same columns in its key before and after.  Then a row may be in both states.
-- The newer of the two events says whether the row has the key now.
rows_under_both_keys as (

    select
        keyed_rows.source_format,
        keyed_rows.table_id,
        keyed_rows.row_key,
        keyless_rows.row_key as keyless_row_key,
        keyed_rows.last_sequence > keyless_rows.last_sequence as has_key
    from keyed_rows_of_keyless_tables as keyed_rows
    inner join keyless_rows
        on
            {{ matches('keyed_rows', 'keyless_rows', columns_of_table()) }}
            and {{ sorted_row_key('keyed_rows.row_key') }}
            = keyless_rows.row_key

),

rekeyed_rows as (

    select
        source_format,
        table_id,
        keyless_row_key as row_key
    from rows_under_both_keys
    where has_key

),

unkeyed_rows as (

    select
        live_rows.source_format,
        live_rows.table_id,
        unkeyed_keys.keyless_row_key as row_key,
        sum(live_rows.row_count) as row_count,
        min(live_rows.first_event_at) as first_event_at
    from live_rows
    inner join rows_under_both_keys as unkeyed_keys
        on
            {{ matches('live_rows', 'unkeyed_keys') }}
            and not unkeyed_keys.has_key
    group by
        live_rows.source_format,
        live_rows.table_id,
        unkeyed_keys.keyless_row_key

),

keyed_rows as (

    select
        live_rows.* except (`row`),
        coalesce(filled_rows.`row`, live_rows.`row`) as `row`,
        filled_rows.filled_from,
        filled_rows.before_values,
        filled_rows.before_values_from
    from live_rows
    left anti join rows_under_both_keys as unkeyed_keys
        on
            {{ matches('live_rows', 'unkeyed_keys') }}
            and not unkeyed_keys.has_key
    left join filled_rows
        on
            live_rows.source_format = filled_rows.source_format
            and live_rows.last_event_id = filled_rows.event_id

),

rows_without_key as (

    select
        keyless_rows.* except (row_count, first_event_at),
        keyless_rows.row_count
        + coalesce(unkeyed_rows.row_count, 0) as row_count,
        coalesce(
            least(keyless_rows.first_event_at, unkeyed_rows.first_event_at),
            keyless_rows.first_event_at
        ) as first_event_at
    from keyless_rows
    left anti join rekeyed_rows
        on {{ matches('keyless_rows', 'rekeyed_rows') }}
    left join unkeyed_rows
        on {{ matches('keyless_rows', 'unkeyed_rows') }}

),

current_rows as (

    select
        {{ names_of_row }},
        {{ state_columns }},
        `row`,
        filled_from,
        before_values,
        before_values_from
    from keyed_rows

    union all

    select
        {{ names_of_row }},
        {{ state_columns }},
        parse_json(row_key) as `row`,
        null as filled_from,
        null as before_values,
        null as before_values_from
    from rows_without_key
    where row_count > 0

),

compared_rows as (

    select
        current_rows.* except (`row`),
        lost_columns.lost_columns,
        {{ without_lost_values(
            'current_rows',
            'current_rows.last_sequence',
            'lost_columns.lost_columns',
        ) }} as `row`
    from current_rows
    left join lost_columns
        on {{ matches('current_rows', 'lost_columns', columns_of_table()) }}

),

latest_state as (

    select
        {{ names_of_row }},
        {{ without_dropped_columns(
            '`row`', 'last_sequence', 'lost_columns'
        ) }} as `row`,
        {{ state_columns }}
    from compared_rows

)

select * from latest_state
