{#-
  Query of the effects of keys whose rows must be completed, with the life of
  the row that each belongs to.  A life begins with an event that needs nothing
  from before it under its key and reaches to the next such event.  A removal is
  the last effect of the life it ends; a void one ended the life before, whose
  row was still under the key.

  touched: effects; their keys, and those of their tables that rows moved from
  or to, are looked at.  moves: relation of `moves_sql`.
-#}
{% macro row_lives_sql(touched, moves) -%}
{%- set keys -%}
(
    select source_format, table_id, row_key from {{ touched }}
    union
    select source_format, table_id, row_key from {{ moves }}
    union
    select source_format, table_id, origin_key from {{ moves }}
)
{%- endset -%}
{%- set contested_keys = contested_keys_sql(ref('int_row_effects'), keys) -%}
{%- set has_contested_keys = has_contested_keys(
    ref('int_row_effects'), keys
) -%}
with

moves as (select * from {{ moves }}),

partial_tables as ({{ partial_tables_sql(touched) }}),

touched_keys as (

    select keys.*
    from {{ keys }} as keys
    left semi join partial_tables
        on {{ matches('keys', 'partial_tables', ['source_format', 'table_id']) }}

),

table_ends as (
    {{ ends_of_tables_sql() }}
),

{% if has_contested_keys -%}
{{ void_removals(ref('int_row_effects'), contested_keys) }},
{%- endif %}

effects as (

    select distinct
        all_effects.source_format,
        all_effects.table_id,
        all_effects.row_key,
        all_effects.effect,
        all_effects.event_id,
        all_effects.topic,
        all_effects.sequence,
        all_effects.event_at,
        all_effects.is_partial
    from {{ ref('int_row_effects') }} as all_effects
    left semi join touched_keys
        on {{ matches('all_effects', 'touched_keys') }}
    where
        all_effects.effect in ('upsert', 'removal')
        and not all_effects.is_keyless

),

placed_effects as (

    select
        effects.source_format,
        effects.table_id,
        effects.row_key,
        {% if has_contested_keys -%}
        if(void_removals.event_id is null, effects.effect, 'void_removal')
            as effect,
        {%- else -%}
        effects.effect,
        {%- endif %}
        effects.event_id,
        effects.topic,
        effects.sequence,
        effects.is_partial,
        moves.origin_key,
        moves.removal_id,
        {{ count_ends_before('effects', 'table_ends.ends') }} as ends_before
    from effects
    left join table_ends
        on {{ matches('effects', 'table_ends', ['source_format', 'table_id']) }}
    left join moves
        on
            effects.is_partial
            and {{ matches('effects', 'moves') }}
            and effects.event_id = moves.event_id
    {% if has_contested_keys -%}
    left join void_removals
        on
            effects.effect = 'removal'
            and {{ matches('effects', 'void_removals') }}
            and effects.event_id = void_removals.event_id
    {%- endif %}

),

followed_effects as (

    select
        *,
        lag(effect) over key_order as effect_before,
        lag(ends_before) over key_order as ends_before_that
    from placed_effects
    window key_order as (
        partition by source_format, table_id, row_key
        order by sequence
    )

)

select
    *,
    sum(cast(
        effect = 'upsert'
        and (
            not is_partial
            or origin_key is not null
            or effect_before is null
            or effect_before = 'removal'
            or ends_before <> ends_before_that
        )
        as int
    )) over (
        partition by source_format, table_id, row_key
        order by sequence
    ) as life
from followed_effects
{%- endmacro %}
