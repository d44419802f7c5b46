{{
    config(
        materialized='incremental',
        incremental_strategy='merge',
        unique_key=['source_format', 'table_id', 'row_key'],
        delete_when='DBT_INTERNAL_SOURCE.last_sequence is null',
    )
}}

-- The fold of tables without a key.  The model counts equal rows: an insert
-- adds one, a delete subtracts one.  The sum does not depend on the order or
-- the batches of the effects.  Effects before a truncation of their table do
-- not count.  If a truncation lands, or earlier effects of a table have
-- changed, the model counts all rows of this table again.  A row that no effect
-- mentions any longer has no newest effect, and the merge deletes it.

{#- The first run reads these inputs too, so that it notes their watermarks. -#}
{%- set new_revised_keys = new_rows(ref('int_revised_keys')) %}
{%- set new_truncations = new_rows(ref('int_truncations')) %}

{%- set table_key = ['source_format', 'table_id'] %}

with

truncations as (select * from {{ ref('int_truncations') }}),

{% if is_incremental() -%}
held_rows as (select * from {{ this }}),

recounted_tables as (

    select
        source_format,
        table_id
    from {{ new_truncations }}

    union

    select
        source_format,
        table_id
    from {{ new_revised_keys }}
    where is_keyless

),

effects as (

    select effects.*
    from {{ new_rows(ref('int_row_effects')) }} as effects
    left anti join recounted_tables
        on {{ matches('effects', 'recounted_tables', table_key) }}
    where effects.is_keyless

    union all

    select effects.*
    from {{ rows_so_far(ref('int_row_effects')) }} as effects
    left semi join recounted_tables
        on {{ matches('effects', 'recounted_tables', table_key) }}
    where effects.is_keyless

),
{%- else -%}
effects as (

    select * from {{ new_rows(ref('int_row_effects')) }}
    where is_keyless

),
{%- endif %}

counted_effects as (

    select
        effects.*,
        if(effects.effect = 'upsert', 1, -1) as count_change
    from effects
    left anti join truncations
        on
            effects.source_format = truncations.source_format
            and effects.table_id = truncations.table_id
            and {{ is_truncated_by('effects', 'truncations') }}

),

touched_rows as (

    select distinct source_format, table_id, row_key
    from counted_effects

),

contributions as (

    select
        source_format,
        table_id,
        row_key,
        count_change as row_count,
        struct(
            sequence,
            effect,
            event_id,
            topic,
            op,
            event_at,
            schema_id,
            database_name,
            schema_name,
            table_name
        ) as newest,
        event_at as first_event_at
    from counted_effects

    {% if is_incremental() -%}
    union all

    select
        held_rows.source_format,
        held_rows.table_id,
        held_rows.row_key,
        held_rows.row_count,
        struct(
            held_rows.last_sequence,
            '',
            held_rows.last_event_id,
            held_rows.topic,
            held_rows.last_op,
            held_rows.last_event_at,
            held_rows.schema_id,
            held_rows.database_name,
            held_rows.schema_name,
            held_rows.table_name
        ) as newest,
        held_rows.first_event_at
    from held_rows
    left semi join touched_rows
        on {{ matches('held_rows', 'touched_rows') }}
    left anti join recounted_tables
        on {{ matches('held_rows', 'recounted_tables', table_key) }}

    union all

    -- rows that no effect mentions any longer
    select
        held_rows.source_format,
        held_rows.table_id,
        held_rows.row_key,
        0 as row_count,
        null as newest,
        null as first_event_at
    from held_rows
    left semi join recounted_tables
        on {{ matches('held_rows', 'recounted_tables', table_key) }}
    left anti join touched_rows
        on {{ matches('held_rows', 'touched_rows') }}
    {%- endif %}

),

counted_rows as (

    select
        source_format,
        table_id,
        row_key,
        max(newest) as newest,
        sum(row_count) as row_count,
        min(first_event_at) as first_event_at
    from contributions
    group by source_format, table_id, row_key

),

keyless_rows as (

    select
        {{ newest_columns() }},
        row_count,
        newest.event_at as last_event_at,
        first_event_at
    from counted_rows

)

select * from keyless_rows
