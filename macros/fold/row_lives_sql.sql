{#-
  Query of the effects of keys whose rows must be filled, with the life of the
  row that each belongs to.  A life begins with an event that takes nothing from
  before it under its key, an insert in any case, and reaches to the next such
  event.  A removal is the last effect of the life it ends; a void one ended the
  life before, whose row was still under the key.

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
{%- set has_collisions = has_key_collisions(
    ref('int_valid_effects'), keys
) -%}
{%- if has_collisions -%}
{%- set collisions = 'select * from ' ~ kept_rows(
    'collisions', key_collisions_sql(ref('int_valid_effects'), keys)
) -%}
{%- endif -%}
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

{% if has_collisions -%}
{{ superseded_effects(ref('int_valid_effects'), collisions) }},
{%- endif %}

all_effects as ({{ effects_by_image_sql(
    'touched_keys', ['source_format', 'table_id', 'row_key']
) }}),

-- the upsert of a half that is known to be a move is there twice
effects as (

    select distinct
        source_format,
        table_id,
        row_key,
        effect,
        op,
        event_id,
        pairing_id,
        topic,
        sequence,
        event_at,
        is_partial,
        lists_all_columns
    from all_effects

),

placed_effects as (

    select
        effects.source_format,
        effects.table_id,
        effects.row_key,
        {% if has_collisions -%}
        if(superseded.took_older_row, 'void_removal', effects.effect)
            as effect,
        {%- else -%}
        effects.effect,
        {%- endif %}
        effects.op,
        effects.event_id,
        effects.pairing_id,
        effects.topic,
        effects.sequence,
        effects.is_partial,
        effects.lists_all_columns,
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
    {% if has_collisions -%}
    left join superseded_effects as superseded
        on
            {{ matches('effects', 'superseded') }}
            and effects.event_id = superseded.event_id
            and effects.effect = superseded.effect
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
            or op = 'insert'
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
