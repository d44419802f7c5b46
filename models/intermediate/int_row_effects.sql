-- noqa: disable=LT02
{{
    config(
        materialized='incremental',
        incremental_strategy='append',
        partition_by=['effect'],
        tblproperties={
            'write.distribution-mode': 'none',
            'write.spark.fanout.enabled': 'true',
        },
    )
}}

-- The log of what events do to rows: narrow, without their images.  An event
-- writes the row of its key (`upsert`) or removes it (`removal`); a key change
-- also removes the row of the old key.  Here it is decided, once for all marts,
-- what repeats an earlier delivery (`redelivery`) and which halves make one
-- update: a half (`before_half`) removes nothing until the other one is there.
-- What was decided otherwise in an earlier run is `withdrawn`: the copy of an
-- event that turns out to have landed later, and effects of an event in a place
-- that turns out to be higher, where they come again.

{%- set message_key = ['source_format', 'topic', '`partition`', 'offset'] %}
{%- set only_effect = "if(op = 'delete', 'removal', 'upsert')" %}
{%- set new_rows_read = new_rows(ref('int_records')) %}
{%- set new_reloads = new_rows(ref('int_reloaded_messages')) %}
{%- set has_new_reloads = (
    is_incremental() and finds_rows('select * from ' ~ new_reloads)
) %}
{%- set effect_records -%}
    select
        record_type,
        source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        row_key,
        previous_row_key,
        topic,
        op,
        event_id,
        pairing_id,
        transaction_id,
        schema_id,
        lists_all_columns,
        size(key_columns) = 0 as is_keyless,
        op <> 'delete' and size(unavailable_columns) > 0 as is_partial,
        event_at,
        landing_commit,
        delivery_position,
        sequence,
        {{ delivery_id() }} as delivery_id
{%- endset %}
{%- set new_records -%}
(
{{ effect_records }}
    from {{ new_rows_read }}
    where record_type in ('change', 'update_before')
    {%- if has_new_reloads %}

    union

    -- the rows of a load that is asked for after it was read
{{ effect_records }}
    from {{ ref('int_records') }} as records
    left semi join {{ new_reloads }} as new_reloads
        on {{ matches('records', 'new_reloads', message_key) }}
    where
        record_type = 'change'
        and {{ is_in_ranges_of(
            new_reloads,
            topic='records.topic',
            partition='records.`partition`',
            offset='records.offset'
        ) }}
    {%- endif %}
)
{%- endset %}

{%- set new_positions = new_rows(ref('int_highest_positions')) %}
{%- set message_places = ref('int_message_places') %}
{%- set has_raised_effects = false %}
{%- if is_incremental() %}
{%- set effects_so_far -%}
({{ valid_effects_sql(this) }})
{%- endset %}
{%- set earlier_effects -%}
(
    select
        *,
        {{ delivery_id() }} as delivery_id
    from {{ effects_so_far }}
    where
        effect in ('upsert', 'removal', 'before_half')
        and {{ delivered_near(new_rows_read) }}
)
{%- endset %}

{#- Most runs raise the position of no event that an earlier one has read. -#}
{%- set new_raises -%}
(
    select places.*
    from {{ message_places }} as places
    left semi join {{ new_positions }} as new_positions
        on {{ matches('places', 'new_positions', message_key) }}
    where places.transaction_index is null
)
{%- endset %}
{%- if finds_rows('select * from ' ~ new_positions ~ ' where is_raised') %}
{%- set raised_effects = kept_rows(
    'raised_effects', raised_effects_sql(effects_so_far, new_raises)
) %}
{%- set has_raised_effects = finds_rows('select * from ' ~ raised_effects) %}
{%- endif %}
{%- endif %}

{#- Most runs have neither: ask before a table is written for them. -#}
{%- set may_repeat -%}
select * from {{ new_records }} where {{ may_be_redelivered() }}
{%- endset %}
{%- set has_redeliveries = false %}
{%- if finds_rows(may_repeat) %}
{%- set redeliveries = kept_rows(
    'redeliveries', redeliveries_sql('(' ~ may_repeat ~ ')', earlier_effects)
) %}
{%- set has_redeliveries = finds_rows('select * from ' ~ redeliveries) %}
{%- endif %}

{%- set first_deliveries -%}
(
    select records.*
    from {{ new_records }} as records
    {% if has_redeliveries -%}
left anti join {{ redeliveries }} as redeliveries
        on
            records.source_format = redeliveries.source_format
            and records.delivery_id = redeliveries.delivery_id
            and records.topic = redeliveries.topic
            and records.sequence = redeliveries.sequence
{%- endif %}
)
{%- endset %}

{%- set new_halves -%}
select * from {{ first_deliveries }} where pairing_id is not null
{%- endset %}
{%- set has_halves = finds_rows(new_halves) %}

{#- What is known to be a move is there twice, and was a half before. -#}
{%- set all_halves -%}
select
    {{ record_columns() }},
    row_key,
    is_partial,
    record_type = 'update_before' as is_before,
    true as is_new
from ({{ new_halves }})

{% if is_incremental() -%}
union all

select
    {{ record_columns() }},
    row_key,
    is_partial,
    effect = 'before_half' as is_before,
    false as is_new
from {{ earlier_effects }}
where
    effect = 'before_half'
    or (effect = 'upsert' and pairing_id is not null and not is_move)
{%- endif %}
{%- endset %}

{#- Few halves differ in their keys: hashes tell which may. -#}
{%- set moved_pairings_query -%}
select xxhash64(source_format, pairing_id) as pairing_hash
from ({{ all_halves }})
group by xxhash64(source_format, pairing_id)
having
    bool_or(is_before)
    and bool_or(not is_before)
    and bool_or(is_new)
    and (
        bool_or(is_keyless)
        or min(xxhash64(row_key)) <> max(xxhash64(row_key))
    )
{%- endset %}
{%- set has_moves = false %}
{%- if has_halves %}
{%- set moved_pairings = kept_rows('moved_pairings', moved_pairings_query) %}
{%- set has_moves = finds_rows('select * from ' ~ moved_pairings) %}
{%- endif %}

with

first_deliveries as (

    select * from {{ first_deliveries }}
    where record_type = 'change'

),

{% if has_moves -%}
halves_of_moves as (

    select halves.*
    from ({{ all_halves }}) as halves
    left semi join {{ moved_pairings }} as moved_pairings
        on
            xxhash64(halves.source_format, halves.pairing_id)
            = moved_pairings.pairing_hash

),

before_halves as (

    select * from halves_of_moves
    where is_before

),

after_halves as (

    select * from halves_of_moves
    where not is_before

),

-- Where the row had another key, or was one of several equal ones.
moved_halves as (

    select
        after_halves.*,
        before_halves.row_key as old_row_key
    from after_halves
    inner join before_halves
        on
            after_halves.source_format = before_halves.source_format
            and after_halves.pairing_id = before_halves.pairing_id
    where
        (after_halves.is_new or before_halves.is_new)
        and (
            after_halves.is_keyless
            or after_halves.row_key <> before_halves.row_key
        )

),
{%- endif %}

effects as (

    select
        {{ record_columns() }},
        effects.row_key,
        effects.is_partial,
        effects.is_move,
        effects.effect
    from first_deliveries
        lateral view inline(
            if(
                previous_row_key is null,
                array({{ effect_struct(effect=only_effect) }}),
                array(
                    {{ effect_struct("'upsert'", is_move='true') }},
                    {{ removal_struct('previous_row_key') }}
                )
            )
        ) effects as row_key, is_partial, is_move, effect

    {% if has_halves -%}
    union all

    select
        {{ record_columns() }},
        row_key,
        is_partial,
        false as is_move,
        'before_half' as effect
    from ({{ new_halves }})
    where record_type = 'update_before'
    {%- endif %}

    {% if has_moves -%}
    union all

    -- the upsert comes once more, now that it is known to be a move
    select
        {{ record_columns() }},
        moves.row_key,
        moves.is_partial,
        moves.is_move,
        moves.effect
    from moved_halves
        lateral view inline(
            array(
                {{ effect_struct("'upsert'", is_move='true') }},
                {{ removal_struct('old_row_key') }}
            )
        ) moves as row_key, is_partial, is_move, effect
    where moves.effect = 'removal' or not is_keyless
    {%- endif %}

    {% if has_redeliveries -%}
    union all

    select
        {{ record_columns() }},
        row_key,
        is_partial,
        is_move,
        effect
    from {{ redeliveries }}
    {%- endif %}

    {% if has_raised_effects -%}
    union all

    select
        {{ record_columns('raised_effects') }},
        raised_effects.row_key,
        raised_effects.is_partial,
        raised_effects.is_move,
        raised_effects.effect
    from {{ raised_effects }} as raised_effects
    {% if has_redeliveries -%}
left anti join {{ redeliveries }} as redeliveries
        on {{ has_place_of('raised_effects', 'redeliveries') }}
    {%- endif %}
    {%- endif %}

    {% if has_new_reloads -%}
    union all

    {{ left_effects_sql(effects_so_far, new_reloads) }}
    {%- endif %}

)

select * from effects
