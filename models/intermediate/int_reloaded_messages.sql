{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The messages of full loads by which tables are repaired (`cdc-marts resync`),
-- with the place that their rows take: behind all that the stream had told when
-- the load began.

{%- set requests = source('landing', 'resyncs') %}
{%- set new_requests = new_rows(requests) %}
{%- set table_key = ['source_format', 'table_id'] %}
{%- set message_key = ['source_format', 'topic', '`partition`', 'offset'] %}
{%- set reloaded_formats = formats_in(requests) if has_rows(requests) else [] %}
{%- set snapshot_rows %}
        source_format,
        table_id,
        topic,
        `partition`,
        offset,
        landed_at
{%- endset %}

with

requests as (select * from {{ requests }}),

snapshot_rows as (

    {% for source_format in var('source_formats') -%}
    {%- set staging = ref('stg_' ~ source_format) -%}
    {%- if source_format in reloaded_formats -%}
    select {{ snapshot_rows }}
    from {{ new_rows(staging) }}
    where record_type = 'change' and op = 'snapshot'

    union all

    -- of loads that had landed before they were asked for
    select {{ snapshot_rows }}
    from {{ staging }} as records
    left semi join {{ new_requests }} as new_requests
        on {{ matches('records', 'new_requests', table_key) }}
    where records.record_type = 'change' and records.op = 'snapshot'

    union all

    {% endif -%}
    {%- endfor -%}
    select {{ snapshot_rows }}
    from {{ ref('stg_' ~ (var('source_formats') | first)) }}
    where false

),

-- A message belongs to the last load that it is a part of.
reloaded_messages as (

    select
        snapshot_rows.source_format,
        snapshot_rows.topic,
        snapshot_rows.`partition`,
        snapshot_rows.offset,
        max(struct(requests.resync_number, requests.position)) as newest
    from snapshot_rows
    inner join requests
        on
            {{ matches('snapshot_rows', 'requests', table_key) }}
            and snapshot_rows.landed_at >= requests.loaded_since
            and (
                requests.topic is null or snapshot_rows.topic = requests.topic
            )
    group by
        snapshot_rows.source_format,
        snapshot_rows.topic,
        snapshot_rows.`partition`,
        snapshot_rows.offset

),

placed_messages as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        newest.position,
        {{ resync_index('newest.resync_number') }} as transaction_index
    from reloaded_messages

){% if is_incremental() %},

known_messages as (select * from {{ this }}),

newly_placed_messages as (

    select placed_messages.*
    from placed_messages
    left anti join known_messages
        on
            {{ matches('placed_messages', 'known_messages', message_key) }}
            and placed_messages.transaction_index
            = known_messages.transaction_index

)

select * from newly_placed_messages
{%- else %}

select * from placed_messages
{%- endif %}
