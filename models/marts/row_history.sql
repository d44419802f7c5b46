-- A view over the effects: a version lasts from its event until the next effect
-- on its key.  So when a late event lands, it splits the version into which it
-- falls.  Effects on one key have the order of their sequences, or if the
-- images show another order, that of their images (`order_on_key`).

with

filled_rows as (select * from {{ ref('int_filled_rows') }}),

lost_columns as (
    {{ lost_columns_of_tables_sql(ref('int_lost_columns')) }}
),

truncations as (
    {{ truncations_of_tables_sql(ref('int_truncations')) }}
),

superseded_effects as (select * from {{ ref('int_superseded_effects') }}),

keyless_rows as (select * from {{ ref('int_keyless_rows') }}),

keyless_tables as (

    select distinct
        source_format,
        table_id
    from keyless_rows

),

effects as (

    select
        source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        row_key,
        op,
        event_id,
        is_keyless,
        effect = 'upsert' as is_upsert,
        -- by how much the number of equal rows of a keyless table changes
        if(effect = 'upsert', 1, -1) as count_change,
        after as `row`,
        event_at,
        sequence
    from {{ ref('int_row_effects') }}

),

lasting_effects as (

    select
        effects.*,
        {{ order_on_key('effects', 'superseded_effects') }} as order_on_key
    from effects
    left join superseded_effects
        on
            {{ matches('effects', 'superseded_effects') }}
            and effects.event_id = superseded_effects.event_id
            and effects.is_upsert = (superseded_effects.effect = 'upsert')
    where superseded_effects.event_id is null or not superseded_effects.row_left

),

placed_effects as (

    select
        effects.* except (`row`),
        -- parsed only if a keyless row may have it
        if(
            keyless_tables.table_id is not null,
            {{ sorted_row_key('effects.row_key') }},
            null
        ) as keyless_row_key,
        if(
            effects.is_keyless,
            parse_json(effects.row_key),
            coalesce(
                {{ without_lost_values(
                    'filled_rows',
                    'effects.sequence',
                    'lost_columns.lost_columns',
                ) }},
                effects.`row`
            )
        ) as `row`,
        {{ count_truncations_before('effects', 'truncations.truncations') }}
            as truncations_before,
        -- They are in order, so the next one follows those before the event.
        get(truncations.truncations, truncations_before) as truncation_after
    from lasting_effects as effects
    left join filled_rows
        on
            effects.is_upsert
            and effects.source_format = filled_rows.source_format
            and effects.event_id = filled_rows.event_id
    left join lost_columns
        on {{ matches('filled_rows', 'lost_columns', columns_of_table()) }}
    left join truncations
        on
            effects.source_format = truncations.source_format
            and effects.table_id = truncations.table_id
    left join keyless_tables
        on
            effects.source_format = keyless_tables.source_format
            and effects.table_id = keyless_tables.table_id

),

-- A row that gets a key of all its columns, or loses such a key, stays one row.
identified_effects as (

    select
        effects.*,
        coalesce(keyless_rows.row_key, effects.row_key) as row_id
    from placed_effects as effects
    left join keyless_rows
        on
            {{ matches('effects', 'keyless_rows', columns_of_table()) }}
            and effects.keyless_row_key = keyless_rows.row_key

),

-- An update of a keyless row that keeps its image deletes a row and writes an
-- equal one.  The number of rows is the one after both effects, and only the
-- second effect is kept.
counted_effects as (

    select
        *,
        if(
            is_keyless,
            sum(count_change) over (
                partition by
                    source_format, table_id, row_id, truncations_before
                order by order_on_key
            ),
            cast(is_upsert as bigint)
        ) as row_count,
        is_keyless and order_on_key <=> lead(order_on_key) over (
            partition by source_format, table_id, row_id
            order by order_on_key, count_change
        ) as is_followed_by_its_upsert
    from identified_effects

),

whole_effects as (

    select * except (is_followed_by_its_upsert)
    from counted_effects
    where not is_followed_by_its_upsert

),

{% if var('merge_equal_versions') -%}
compared_effects as (

    select
        *,
        lag(struct(
            row_count,
            truncations_before,
            row_key,
            to_json(`row`) as row_text
        )) over (
            partition by source_format, table_id, row_id
            order by order_on_key, count_change
        ) as version_before,
        -- An open version has the columns of its last equal effect.
        last(sequence) over (
            partition by source_format, table_id, row_id
            order by order_on_key, count_change
            rows between unbounded preceding and unbounded following
        ) as last_sequence
    from whole_effects

),

differing_effects as (

    select * except (version_before)
    from compared_effects
    where not (
            version_before <=> struct(
                row_count,
                truncations_before,
                row_key,
                to_json(`row`) as row_text
            )
        )

),
{%- else -%}
differing_effects as (
    select
        *,
        sequence as last_sequence
    from whole_effects
),
{%- endif %}

followed_effects as (

    select
        *,
        lead(struct(event_at, truncations_before)) over (
            partition by source_format, table_id, row_id
            order by order_on_key, count_change
        ) as next_effect
    from differing_effects

),

closed_versions as (

    select
        *,
        next_effect is null and truncation_after is null as is_current,
        if(
            next_effect.truncations_before = truncations_before,
            next_effect.event_at,
            -- Rows of a full load that repairs the table may have times before
            -- its truncation, whose time is when the load began to land.
            least(truncation_after.event_at, next_effect.event_at)
        ) as closed_at,
        row_number() over (
            partition by source_format, table_id, row_id
            order by order_on_key, count_change
        ) as version
    from followed_effects
    where row_count > 0

),

row_history as (

    select
        versions.source_format,
        versions.table_id,
        versions.database_name,
        versions.schema_name,
        versions.table_name,
        versions.row_key,
        if(
            versions.is_current,
            {{ without_dropped_columns(
                'versions.`row`',
                'versions.last_sequence',
                'lost_columns.lost_columns',
            ) }},
            versions.`row`
        ) as `row`,
        versions.row_count,
        versions.op,
        versions.event_id,
        versions.is_current,
        versions.event_at as valid_from,
        -- If the event that ends a version has no time, the version is only
        -- known to be over, and `valid_to` shows its own time.
        if(
            versions.is_current,
            null,
            coalesce(versions.closed_at, versions.event_at)
        ) as valid_to,
        versions.version,
        versions.sequence
    from closed_versions as versions
    left join lost_columns
        on {{ matches('versions', 'lost_columns', columns_of_table()) }}

)

select * from row_history
