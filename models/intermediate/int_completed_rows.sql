{{
    config(
        materialized='incremental',
        incremental_strategy='merge',
        unique_key=['source_format', 'event_id'],
    )
}}

-- Rows of partial images, filled: an unavailable column keeps the value it had
-- in the event before, in sequence, else the one in its own image before.  Only
-- keys with such events are looked at, and of these the ones that have new
-- effects, as a late one changes what follows it, and those that were filled
-- before the truncation of their table arrived.

{%- set new_effects = new_rows(ref('int_row_effects')) %}
{%- set new_ends = new_rows(ref('int_table_ends')) %}
{%- set touched -%}
(
    select source_format, table_id, row_key from {{ new_effects }}
{%- if is_incremental() %}
    union all
    select filled_rows.source_format, filled_rows.table_id, filled_rows.row_key
    from {{ this }} as filled_rows
    left semi join {{ new_ends }} as new_ends
        on {{ matches('filled_rows', 'new_ends', ['source_format', 'table_id']) }}
{%- endif %}
)
{%- endset %}
{%- set has_partial_rows = has_partial_tables(touched) %}

{% if has_partial_rows -%}
{%- set moves = kept_rows('moves', moves_sql(touched)) %}
{%- set lives = kept_rows('lives', row_lives_sql(touched, moves)) %}
{%- set has_partial_halves = finds_rows(
    'select * from ' ~ lives ~ ' where is_partial and pairing_id is not null'
) %}
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
        effects.pairing_id,
        effects.topic,
        effects.sequence,
        effects.is_partial,
        effects.lists_all_columns
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
        before,
        after,
        unavailable_columns
    from {{ ref('int_records') }}
    where record_type = 'change'

),

{% if has_partial_halves -%}
before_halves as (

    select
        source_format,
        pairing_id,
        any_value(before) as before
    from {{ ref('int_split_records') }}
    where record_type = 'update_before'
    group by source_format, pairing_id

),
{%- endif %}

step_images as (

    select
        steps.*,
        cast(images.after as map <string, variant>) as carried_columns,
        images.unavailable_columns,
        if(
            steps.is_partial,
            cast(
                {{ 'coalesce(images.before, before_halves.before)'
                    if has_partial_halves else 'images.before' }}
                as map <string, variant>
            ),
            null
        ) as columns_before
    from steps
    inner join images
        on {{ matches('steps', 'images', ['event_id', 'topic', 'sequence']) }}
    {% if has_partial_halves -%}
    left join before_halves
        on
            steps.is_partial
            and {{ matches(
                'steps', 'before_halves', ['source_format', 'pairing_id']
            ) }}
    {%- endif %}

),

columns_of_lives as (

    select
        source_format,
        table_id,
        row_key,
        life,
        array_distinct(flatten(array_union(
            collect_set(map_keys(carried_columns)),
            collect_set(map_keys(columns_before))
        ))) as column_names
    from step_images
    group by source_format, table_id, row_key, life

),

-- One per column of the row, with its value where the image has it.
column_steps as (

    select
        steps.* except (carried_columns, unavailable_columns, columns_before),
        carried.name,
        carried.value,
        if(
            map_contains_key(steps.columns_before, carried.name),
            named_struct('value', steps.columns_before[carried.name]),
            null
        ) as value_before
    from (
        select
            step_images.*,
            case
                when not step_images.is_partial
                    then cast(array() as array<string>)
                when step_images.lists_all_columns
                    then step_images.unavailable_columns
                else columns_of_lives.column_names
            end as names
        from step_images
        inner join columns_of_lives
            on {{ matches(
                'step_images',
                'columns_of_lives',
                ['source_format', 'table_id', 'row_key', 'life'],
            ) }}
    ) as steps
        lateral view explode(
            map_concat(
                map_from_arrays(
                    steps.names,
                    transform(
                        steps.names,
                        name -> cast(null as struct<value: variant>)
                    )
                ),
                transform_values(
                    steps.carried_columns,
                    (name, value) -> named_struct('value', value)
                )
            )
        ) carried as name, value

),

-- What an image before says counts where no event before has the column.
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
        coalesce(
            last_value(
                if(value is null, null, struct(value.value, sequence)), true
            ) over up_to_event,
            last_value(
                if(
                    value_before is null,
                    null,
                    struct(value_before.value, sequence)
                ),
                true
            ) over up_to_event
        ) as carried
    from column_steps
    window up_to_event as (
        partition by source_format, table_id, row_key, life, name
        order by sequence
        rows between unbounded preceding and current row
    )

),

completed_rows as (

    select
        source_format,
        event_id,
        table_id,
        row_key,
        to_variant_object(map_from_entries(
            collect_list(struct(name, carried.value))
        )) as `row`,
        map_from_entries(collect_list(if(
            carried.sequence < sequence,
            struct(name, carried.sequence),
            null
        ))) as carried_from
    from last_values
    where is_partial and distance = 0 and carried is not null
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
    map('', sequence) as carried_from
from {{ new_effects }}
where false
{%- endif %}
