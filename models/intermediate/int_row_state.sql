-- noqa: disable=LT02
{{
    config(
        materialized='incremental',
        incremental_strategy='newest_effect',
        unique_key=['source_format', 'table_id', 'row_key'],
    )
}}

-- The fold of tables with keys.  Per key the effect with the highest sequence,
-- removals included: a maximum does not care for order, batches or repetition.
-- The newest of the new effects replaces what the state holds if it is newer.
-- Keys whose newest effect may have been withdrawn are folded whole.

{%- set new_effects = new_rows(ref('int_row_effects')) %}
{%- set new_ends = new_rows(ref('int_table_ends')) %}

{%- if is_incremental() %}
{#- Where a table ends late, keys of before and after it are apart. -#}
{%- set touched_keys -%}
(
    select
        source_format,
        table_id,
        row_key
    from {{ new_effects }}
    union all
    -- an insert that lands after its delete makes a key change of both
    select
        source_format,
        table_id,
        old_key as row_key
    from ({{ split_key_changes_sql(ref('int_valid_effects'), new_effects) }})
{%- if finds_rows('select * from ' ~ new_ends) %}
    union all
    select
        effects.source_format,
        effects.table_id,
        effects.row_key
    from {{ ref('int_valid_effects') }} as effects
    left semi join {{ new_ends }} as new_ends
        on {{ matches('effects', 'new_ends', ['source_format', 'table_id']) }}
    where {{ may_come() }}
{%- endif %}
)
{%- endset %}
{%- endif %}
{%- set has_collisions = has_key_collisions(
    ref('int_valid_effects'), touched_keys
) %}
{#- Kept: a plan that holds the question several times takes long to make. -#}
{%- if has_collisions %}
{%- set collisions = 'select * from ' ~ kept_rows(
    'collisions', key_collisions_sql(ref('int_valid_effects'), touched_keys)
) %}
{%- endif %}

{%- set withdrawn_effects -%}
select * from {{ new_effects }}
where effect = 'withdrawn' and not is_keyless
{%- endset %}
{%- set has_withdrawn_effects = is_incremental()
    and finds_rows(withdrawn_effects) %}

{%- set newest_effects_query -%}
with

{% if has_withdrawn_effects -%}
withdrawn_effects as ({{ withdrawn_effects }}),
{%- endif %}

new_effects as (

    select
        effects.*,
        false as has_collision,
        false as is_superseded
    from ({{ valid_effects_sql(new_effects) }}) as effects
    {% if has_withdrawn_effects -%}
    left anti join withdrawn_effects
        on {{ matches('effects', 'withdrawn_effects') }}
    {%- endif %}
    where effects.effect in ('upsert', 'removal') and not effects.is_keyless

    {% if has_withdrawn_effects -%}
    union all

    select
        effects.*,
        true as has_collision,
        false as is_superseded
    from {{ ref('int_valid_effects') }} as effects
    left semi join withdrawn_effects
        on {{ matches('effects', 'withdrawn_effects') }}
    where effects.effect in ('upsert', 'removal')
    {%- endif %}

),

{% if has_collisions -%}
table_ends as (
    {{ ends_of_tables_sql() }}
),

{{ superseded_effects(ref('int_valid_effects'), collisions) }},

effects as (

    select new_effects.*
    from new_effects
    left anti join collision_keys
        on {{ matches('new_effects', 'collision_keys') }}

    union all

    select
        collision_effects.*,
        true as has_collision,
        superseded_effects.event_id is not null as is_superseded
    from collision_effects
    left join superseded_effects
        on {{ matches(
            'collision_effects',
            'superseded_effects',
            ['source_format', 'table_id', 'row_key', 'event_id', 'effect'],
        ) }}

)
{%- else -%}
effects as (select * from new_effects)
{%- endif %}

select
    source_format,
    table_id,
    row_key,
    has_collision,
    max(struct(
        sequence,
        effect = 'upsert' as is_live,
        event_id,
        topic,
        op,
        event_at,
        schema_id,
        is_partial,
        database_name,
        schema_name,
        table_name
    )) filter (where not is_superseded) as newest,
    min(event_at) as first_event_at
from effects
-- Spark sorts for a maximum of structs: by a number first, most keys differ in.
group by
    xxhash64(row_key), source_format, table_id, row_key, has_collision
{%- endset %}

{#- Kept: known to be few, they spare the images a shuffle. -#}
{%- set newest_effects = kept_rows('newest_effects', newest_effects_query) %}
{%- set rows_of_collisions -%}
(
    select
        newest.topic,
        newest.sequence.`partition`,
        newest.sequence.offset
    from {{ newest_effects }}
    where has_collision and newest.is_live
)
{%- endset %}

with

newest_effects as (

    select * from {{ newest_effects }}

),

-- The wide columns are read for the winning events only.
images as (

    select
        source_format,
        topic,
        sequence,
        after,
        false as has_collision
    from {{ new_rows(ref('int_records'), read_by=ref('int_row_effects')) }}
    where record_type = 'change'

    {% if has_collisions or has_withdrawn_effects -%}
    union all

    -- of events of any run
    select
        source_format,
        topic,
        sequence,
        after,
        true as has_collision
    from {{ ref('int_records') }}
    where record_type = 'change' and {{ is_in_ranges_of(rows_of_collisions) }}
    {%- endif %}

),

newest_rows as (

    select
        newest_effects.*,
        images.after as `row`
    from newest_effects
    inner join images
        on
            newest_effects.has_collision = images.has_collision
            and newest_effects.source_format = images.source_format
            and newest_effects.newest.topic = images.topic
            and newest_effects.newest.sequence.`partition`
            = images.sequence.`partition`
            and newest_effects.newest.sequence.offset = images.sequence.offset
            and newest_effects.newest.sequence.row_index
            = images.sequence.row_index
    where newest_effects.newest.is_live

    union all

    select
        *,
        cast(null as variant) as `row`
    from newest_effects
    where not newest.is_live

),

folded_state as (

    select
        {{ newest_columns() }},
        `row`,
        newest.is_live,
        newest.is_partial,
        has_collision,
        newest.event_at as last_event_at,
        first_event_at
    from newest_rows

)

select * from folded_state
