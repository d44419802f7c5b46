{{
    config(
        materialized='incremental',
        incremental_strategy='newest_effect',
        unique_key=['source_format', 'table_id', 'row_key'],
    )
}}

-- The fold of tables with keys.  The state keeps, for each key, the effect with
-- the highest sequence; this may be a delete.  A maximum does not depend on the
-- order, the batches or the repetition of effects.  A run takes the newest of
-- the new effects on a key, and merges it into the state if it is newer than
-- the effect in the state.  If earlier effects on a key have changed, or the
-- key is a colliding key, the run folds all effects on the key again.

{#- The first run reads these inputs too, so that it notes their watermarks. -#}
{%- set new_colliding_keys = new_rows(ref('int_colliding_keys')) %}
{%- set new_revised_keys = new_rows(ref('int_revised_keys')) %}

with

superseded_effects as (
    select * from {{ rows_so_far(ref('int_superseded_effects')) }}
),

{% if is_incremental() -%}
refolded_keys as (

    select
        source_format,
        table_id,
        row_key
    from {{ new_colliding_keys }}

    union

    select
        source_format,
        table_id,
        row_key
    from {{ new_revised_keys }}
    where not is_keyless

),

folded_effects as (

    select
        effects.*,
        false as is_refolded
    from {{ new_rows(ref('int_row_effects')) }} as effects
    left anti join refolded_keys
        on {{ matches('effects', 'refolded_keys') }}

    union all

    select
        effects.*,
        true as is_refolded
    from {{ rows_so_far(ref('int_row_effects')) }} as effects
    left semi join refolded_keys
        on {{ matches('effects', 'refolded_keys') }}

),
{%- else -%}
folded_effects as (

    select
        *,
        false as is_refolded
    from {{ new_rows(ref('int_row_effects')) }}

),
{%- endif %}

effects as (

    select
        folded_effects.*,
        superseded_effects.event_id is not null as is_superseded
    from folded_effects
    left join superseded_effects
        on {{ matches(
            'folded_effects',
            'superseded_effects',
            columns_of_key() + ['event_id', 'effect'],
        ) }}
    where not folded_effects.is_keyless

),

newest_effects as (

    select
        source_format,
        table_id,
        row_key,
        is_refolded,
        max_by(
            struct(
                sequence,
                effect,
                event_id,
                op,
                event_at,
                schema_id,
                database_name,
                schema_name,
                table_name,
                after as `row`
            ),
            struct(sequence, effect)
        ) filter (where not is_superseded) as newest,
        count_if(not is_superseded) as effect_count,
        min(event_at) as first_event_at
    from effects
    -- Spark sorts the effects for `max_by`.  Most keys already differ in their
    -- hash, and numbers are compared faster than texts.
    group by
        xxhash64(row_key), source_format, table_id, row_key, is_refolded

),

row_state as (

    select
        source_format,
        table_id,
        newest.database_name,
        newest.schema_name,
        newest.table_name,
        row_key,
        newest.op as last_op,
        newest.event_id as last_event_id,
        newest.sequence as last_sequence,
        newest.schema_id,
        newest.`row`,
        newest.effect = 'upsert' as is_live,
        is_refolded,
        newest.event_at as last_event_at,
        first_event_at
    from newest_effects
    where effect_count > 0

)

select
    * except (last_sequence),
    {{ last_sequence_members() }}
from row_state
