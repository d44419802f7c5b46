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
{%- if finds_rows('select * from ' ~ new_ends) %}
    union all
    select
        effects.source_format,
        effects.table_id,
        effects.row_key
    from {{ ref('int_row_effects') }} as effects
    left semi join {{ new_ends }} as new_ends
        on {{ matches('effects', 'new_ends', ['source_format', 'table_id']) }}
    where {{ arrives() }}
{%- endif %}
)
{%- endset %}
{%- endif %}
{%- set contested_keys = contested_keys_sql(
    ref('int_row_effects'), touched_keys
) %}
{%- set has_contested_keys = has_contested_keys(
    ref('int_row_effects'), touched_keys
) %}

{%- set newest_effects_query -%}
with

new_effects as (

    select * from {{ new_effects }}
    where effect in ('upsert', 'removal') and not is_keyless

),

{% if has_contested_keys -%}
table_ends as (
    {{ ends_of_tables_sql() }}
),

{{ void_removals(ref('int_row_effects'), contested_keys) }},

effects as (

    select
        new_effects.*,
        false as is_contested
    from new_effects
    left anti join contested_keys
        on {{ matches('new_effects', 'contested_keys') }}

    union all

    select
        contested_effects.*,
        true as is_contested
    from contested_effects
    left anti join void_removals
        on
            {{ matches('contested_effects', 'void_removals') }}
            and contested_effects.event_id = void_removals.event_id

)
{%- else -%}
effects as (

    select
        *,
        false as is_contested
    from new_effects

)
{%- endif %}

select
    source_format,
    table_id,
    row_key,
    is_contested,
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
    )) as newest,
    min(event_at) as first_event_at
from effects
-- Spark sorts for a maximum of structs: by a number first, most keys differ in.
group by
    xxhash64(row_key), source_format, table_id, row_key, is_contested
{%- endset %}

{#- Kept: known to be few, they spare the images a shuffle. -#}
{%- set newest_effects = kept_rows('newest_effects', newest_effects_query) %}

with

newest_effects as (

    select * from {{ newest_effects }}

),

-- The wide columns are read for the winning events only.
images as (

    select
        event_id,
        topic,
        sequence,
        after
    {% if has_contested_keys -%}
    from {{ ref('int_records') }}
    {%- else -%}
    from {{ new_rows(ref('int_records'), read_by=ref('int_row_effects')) }}
    {%- endif %}
    where record_type = 'change'

),

newest_rows as (

    select
        newest_effects.*,
        images.after as `row`
    from newest_effects
    inner join images
        on
            newest_effects.newest.event_id = images.event_id
            and newest_effects.newest.topic = images.topic
            and newest_effects.newest.sequence = images.sequence
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
        is_contested,
        newest.event_at as last_event_at,
        first_event_at
    from newest_rows

)

select * from folded_state
