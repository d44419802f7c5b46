{{
    config(
        materialized='incremental',
        incremental_strategy='merge',
        unique_key=['source_format', 'event_id'],
    )
}}

-- Rows of events that did not carry all columns, made whole: a column that was
-- not carried keeps the value it had in the event before, in sequence.  Only
-- keys with such events are looked at, and of these the ones that have new
-- effects: a late one changes what follows it.

{%- set new_effects = new_rows(ref('int_row_effects')) %}
{%- set has_partial_rows = has_partial_tables(new_effects) %}

{% if has_partial_rows -%}
{%- set moves = kept_rows('moves', moves_sql(new_effects)) %}
{%- set lives = kept_rows('lives', row_lives_sql(new_effects, moves)) %}
with recursive

lives as (select * from {{ lives }}),

-- Where a life began under another key.
origins as (

    select
        moved.source_format,
        moved.table_id,
        moved.row_key,
        moved.life,
        removed.row_key as origin_key,
        removed.life - cast(removed.effect = 'void_removal' as int)
            as origin_life
    from lives as moved
    inner join lives as removed
        on
            moved.source_format = removed.source_format
            and moved.table_id = removed.table_id
            and moved.origin_key = removed.row_key
            and moved.removal_id = removed.event_id
    where
        moved.origin_key is not null
        and removed.effect <> 'upsert'
        and moved.ends_before = removed.ends_before

),

ancestors (
    source_format, table_id, row_key, life, origin_key, origin_life, distance
) as (

    select
        *,
        1 as distance
    from origins

    union all

    select
        ancestors.source_format,
        ancestors.table_id,
        ancestors.row_key,
        ancestors.life,
        origins.origin_key,
        origins.origin_life,
        ancestors.distance + 1
    from ancestors
    inner join origins
        on
            ancestors.source_format = origins.source_format
            and ancestors.table_id = origins.table_id
            and ancestors.origin_key = origins.row_key
            and ancestors.origin_life = origins.life
    where ancestors.distance < {{ var('longest_key_chain') }}

),

-- The lives with partial events, and those that they took values from.
sources_of_values as (

    select distinct
        source_format,
        table_id,
        row_key,
        life,
        row_key as origin_key,
        life as origin_life,
        0 as distance
    from lives
    where is_partial

    union all

    select * from ancestors

),

steps as (

    select
        sources.source_format,
        sources.table_id,
        sources.row_key,
        sources.life,
        sources.distance,
        effects.event_id,
        effects.topic,
        effects.sequence,
        effects.is_partial
    from sources_of_values as sources
    inner join lives as effects
        on
            sources.source_format = effects.source_format
            and sources.table_id = effects.table_id
            and sources.origin_key = effects.row_key
            and sources.origin_life = effects.life
    where effects.effect = 'upsert'

),

images as (

    select
        event_id,
        topic,
        sequence,
        after,
        unavailable_columns
    from {{ ref('int_records') }}
    where record_type = 'change'

),

-- One per column: with its value where it was carried, else without.
column_steps as (

    select
        steps.*,
        carried.name,
        carried.value
    from steps
    inner join images
        on {{ matches('steps', 'images', ['event_id', 'topic', 'sequence']) }}
        lateral view explode(
            map_concat(
                map_from_arrays(
                    images.unavailable_columns,
                    transform(
                        images.unavailable_columns,
                        name -> cast(null as struct<value: variant>)
                    )
                ),
                transform_values(
                    cast(images.after as map <string, variant>),
                    (name, value) -> named_struct('value', value)
                )
            )
        ) carried as name, value

),

last_values as (

    select
        source_format,
        event_id,
        table_id,
        row_key,
        name,
        distance,
        is_partial,
        sequence,
        last_value(
            if(value is null, null, struct(value.value, sequence)), true
        ) over (
            partition by source_format, table_id, row_key, life, name
            order by sequence
            rows between unbounded preceding and current row
        ) as told
    from column_steps

),

completed_rows as (

    select
        source_format,
        event_id,
        table_id,
        row_key,
        to_variant_object(map_from_entries(
            collect_list(struct(name, told.value))
        )) as `row`,
        collect_list(
            if(told.sequence < sequence, struct(name, told.sequence), null)
        ) as carried_values
    from last_values
    where is_partial and distance = 0 and told is not null
    group by source_format, event_id, table_id, row_key

)

select * from completed_rows
{%- else -%}
select
    source_format,
    event_id,
    table_id,
    row_key,
    cast(null as variant) as `row`,
    array(struct('' as name, sequence)) as carried_values
from {{ new_effects }}
where false
{%- endif %}
