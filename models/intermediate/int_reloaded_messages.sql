{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The messages of full loads that repair tables (`cdc-marts resync`), with the
-- place of their rows: after all changes that the stream had reported when the
-- load began.

with

requests as (
    select * from {{ rows_so_far(ref('int_resyncs')) }}
),

new_requests as (
    select * from {{ new_rows(ref('int_resyncs')) }}
),

loaded_rows as (

    select
        source_format,
        table_id,
        topic,
        `partition`,
        offset,
        landed_at,
        message_position
    from {{ new_rows(ref('int_staging_records')) }}
    where {{ is_row_of_full_load() }}

    union all

    -- rows of a load that landed before `resync` was called
    select
        records.source_format,
        records.table_id,
        records.topic,
        records.`partition`,
        records.offset,
        records.landed_at,
        records.message_position
    from {{ rows_so_far(ref('int_staging_records')) }} as records
    left semi join new_requests
        on {{ matches('records', 'new_requests', columns_of_table()) }}
    where {{ is_row_of_full_load() }}

),

ordered_rows as (

    select
        *,
        {{ is_of_format_that('ordered_by_landing') }} as is_ordered_by_landing
    from loaded_rows

),

-- If several resyncs include a message, the last one gives its place.  A row
-- that landed after the command may belong to another load.  So it keeps its
-- own place if this is behind the place of the resync, unless it landed in the
-- topic of the load.
reloaded_messages as (

    select
        loaded_rows.source_format,
        loaded_rows.table_id,
        loaded_rows.topic,
        loaded_rows.`partition`,
        loaded_rows.offset,
        max(loaded_rows.message_position) as message_position,
        max(struct(requests.resync_number, requests.position)) as newest
    from ordered_rows as loaded_rows
    inner join requests
        on
            {{ matches('loaded_rows', 'requests', columns_of_table()) }}
            and loaded_rows.landed_at >= requests.loaded_since
            and (
                loaded_rows.topic = requests.topic
                or requests.topic is null
                and (
                    loaded_rows.landed_at <= requests.requested_at
                    or not (
                        loaded_rows.is_ordered_by_landing
                        or coalesce(
                            loaded_rows.message_position > requests.position,
                            false
                        )
                    )
                )
            )
    group by
        loaded_rows.source_format,
        loaded_rows.table_id,
        loaded_rows.topic,
        loaded_rows.`partition`,
        loaded_rows.offset

),

placed_messages as (

    select
        source_format,
        table_id,
        topic,
        `partition`,
        offset,
        message_position,
        newest.position,
        {{ resync_index('newest.resync_number') }} as transaction_index
    from reloaded_messages

){% if is_incremental() %},

earlier_messages as (select * from {{ this }}),

newly_placed_messages as (

    select placed_messages.*
    from placed_messages
    left anti join earlier_messages
        on
            {{ matches(
                'placed_messages', 'earlier_messages', columns_of_message()
            ) }}
            and placed_messages.transaction_index
            = earlier_messages.transaction_index

)

select * from newly_placed_messages
{%- else %}

select * from placed_messages
{%- endif %}
