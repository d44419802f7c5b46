{{
    config(
        materialized='incremental',
        incremental_strategy='merge',
        unique_key=['source_format', 'table_id', 'row_key'],
    )
}}

{%- set folds_partial_rows = has_partial_events() %}
{%- set new_ends = unless_empty(new_rows(ref('int_table_ends'))) %}
{%- set new_half_records = unless_empty(
    new_rows(ref('int_records')), "record_type = 'update_before'"
) %}

-- The fold.  Per row key the effect with the highest sequence, removals
-- included: a maximum does not care for order, batches or repetition.  Rows of
-- keyless tables are counted per image: a sum, which does not care either.
-- What the state holds takes part like one more effect.

with

new_effects as (select * from {{ new_rows(ref('int_row_effects')) }}),

table_ends as (select * from {{ ref('int_table_ends') }}),

{% if is_incremental() -%}
state as (select * from {{ this }}),

-- An end takes rows of a keyless table out of sums that hold them already:
-- its rows are counted again.
recounted_tables as (

    select distinct source_format, table_id
    from {{ new_ends }}

),

new_halves as (

    select
        pairing_id,
        count(*) as new_count
    from {{ new_half_records }}
    where record_type = 'update_before'
    group by pairing_id

),

-- Before halves of split updates none of which an earlier run read: a half
-- that is delivered once more is not late.
late_halves as (

    select
        halves.pairing_id,
        min(halves.row_key) as row_key
    from {{ ref('int_records') }} as halves
    inner join new_halves
        on halves.pairing_id = new_halves.pairing_id
    where halves.record_type = 'update_before'
    group by halves.pairing_id
    having count(*) = max(new_halves.new_count)

),

-- What they change where the event was read before them: the key that a row
-- had is left, a keyless row that stayed as it was has been counted in vain.
late_effects as (

    select
        late_effects.* except (count_change),
        -1 as count_change
    from {{ ref('int_row_effects') }} as late_effects
    left semi join late_halves
        on
            late_effects.pairing_id = late_halves.pairing_id
            and late_effects.row_key = late_halves.row_key
    left anti join new_effects
        on
            late_effects.event_id = new_effects.event_id
            and late_effects.row_key = new_effects.row_key
    where
        late_effects.pairing_id is not null
        and (
            not late_effects.is_upsert
            or late_effects.is_keyless and late_effects.count_change = 0
        )

),

unread_effects as (

    select * from new_effects

    union all

    select * from late_effects

),

effects as (

    select unread_effects.*
    from unread_effects
    left anti join recounted_tables
        on
            unread_effects.is_keyless
            and unread_effects.source_format = recounted_tables.source_format
            and unread_effects.table_id = recounted_tables.table_id

    union all

    select all_effects.*
    from {{ ref('int_row_effects') }} as all_effects
    left semi join recounted_tables
        on
            all_effects.source_format = recounted_tables.source_format
            and all_effects.table_id = recounted_tables.table_id
    where all_effects.is_keyless

),

completed_rows_held as (

    select
        source_format,
        table_id,
        row_key,
        explode(
            array_union(array(row_key), coalesce(origin_keys, array()))
        ) as origin_key
    from state
    where has_partial_events and not is_keyless

),

-- Rows completed from earlier events of keys that have new ones.
outdated_rows as (

    select distinct
        completed_rows_held.source_format,
        completed_rows_held.table_id,
        completed_rows_held.row_key
    from completed_rows_held
    left semi join new_effects
        on
            completed_rows_held.source_format = new_effects.source_format
            and completed_rows_held.table_id = new_effects.table_id
            and completed_rows_held.origin_key = new_effects.row_key

),

touched_keys as (

    select source_format, table_id, row_key
    from effects

    union

    select state.source_format, state.table_id, state.row_key
    from state
    left semi join recounted_tables
        on
            state.source_format = recounted_tables.source_format
            and state.table_id = recounted_tables.table_id
    where state.is_keyless

    union

    select source_format, table_id, row_key
    from outdated_rows

),

held as (

    select
        state.*,
        state.is_keyless and recounted_tables.table_id is not null
            as is_recounted
    from state
    left semi join touched_keys
        on
            state.source_format = touched_keys.source_format
            and state.table_id = touched_keys.table_id
            and state.row_key = touched_keys.row_key
    left join recounted_tables
        on
            state.source_format = recounted_tables.source_format
            and state.table_id = recounted_tables.table_id

),
{%- else -%}
effects as (select * from new_effects),
{%- endif %}

contributions as (

    select
        effects.source_format,
        effects.table_id,
        effects.row_key,
        effects.is_keyless,
        struct(
            effects.sequence,
            effects.is_upsert as is_live,
            false as is_held,
            effects.event_id,
            effects.op,
            effects.event_at,
            effects.topic,
            effects.database_name,
            effects.schema_name,
            effects.table_name
        ) as effect,
        effects.count_change as row_count,
        effects.event_at as first_event_at,
        effects.is_partial as has_partial_events
    from effects
    left anti join table_ends
        on
            effects.is_keyless
            and effects.source_format = table_ends.source_format
            and effects.table_id = table_ends.table_id
            and {{ is_ended_by('effects', 'table_ends') }}

    {% if is_incremental() -%}
    union all

    select
        source_format,
        table_id,
        row_key,
        is_keyless,
        struct(
            last_sequence,
            is_live,
            true,
            last_event_id,
            last_op,
            last_event_at,
            topic,
            database_name,
            schema_name,
            table_name
        ) as effect,
        if(is_recounted, 0, row_count) as row_count,
        first_event_at,
        has_partial_events
    from held
    {%- endif %}

),

winners as (

    select
        source_format,
        table_id,
        row_key,
        is_keyless,
        max(effect) as last_effect,
        sum(row_count) as row_count,
        min(first_event_at) as first_event_at,
        bool_or(has_partial_events) as has_partial_events
    from contributions
    group by source_format, table_id, row_key, is_keyless

),

-- The wide columns are read for the winning events only.
new_images as (

    select new_events.event_id, new_events.after
    from {{ new_rows(ref('change_events')) }} as new_events
    left semi join winners
        on
            new_events.event_id = winners.last_effect.event_id
            and winners.last_effect.is_live
            and not winners.is_keyless

),

{% if folds_partial_rows -%}
partial_keys as (

    select source_format, table_id, row_key
    from new_effects
    where is_partial and not is_keyless
    {% if is_incremental() %}
    union

    select source_format, table_id, row_key
    from outdated_rows
    {%- else %}
    group by source_format, table_id, row_key
    {%- endif %}

),

{{ completed_rows() }},
{%- endif %}

folded_state as (

    select
        winners.source_format,
        winners.table_id,
        winners.last_effect.database_name,
        winners.last_effect.schema_name,
        winners.last_effect.table_name,
        winners.row_key,
        winners.last_effect.topic,
        winners.last_effect.op as last_op,
        winners.last_effect.event_id as last_event_id,
        winners.last_effect.sequence as last_sequence,
        {% if folds_partial_rows -%}
        completed_rows.origin_keys,
        {%- else -%}
        cast(null as array<string>) as origin_keys,
        {%- endif %}
        case
            when winners.is_keyless
                then parse_json(winners.row_key)
            when not winners.last_effect.is_live
                then cast(null as variant)
            {% if folds_partial_rows -%}
            when winners.has_partial_events
                then completed_rows.`row`
            {%- endif %}
            {% if is_incremental() -%}
            when winners.last_effect.is_held
                then held.`row`
            {%- endif %}
            else new_images.after
        end as `row`,
        case
            when winners.is_keyless then winners.row_count
            else cast(winners.last_effect.is_live as bigint)
        end as row_count,
        winners.is_keyless,
        case
            when winners.is_keyless then winners.row_count > 0
            else winners.last_effect.is_live
        end as is_live,
        winners.has_partial_events,
        winners.last_effect.event_at as last_event_at,
        winners.first_event_at
    from winners
    left join new_images
        on winners.last_effect.event_id = new_images.event_id
    {% if is_incremental() -%}
    left join held
        on
            winners.last_effect.is_held
            and winners.source_format = held.source_format
            and winners.table_id = held.table_id
            and winners.row_key = held.row_key
    {%- endif %}
    {% if folds_partial_rows -%}
    left join completed_rows
        on
            winners.source_format = completed_rows.source_format
            and winners.table_id = completed_rows.table_id
            and winners.row_key = completed_rows.row_key
    {%- endif %}

)

select * from folded_state
