{#-
  CTEs that fold the rows of keys with partial events (a column that the source
  has but the message did not carry keeps its value).  A maximum can't do that:
  here the events of such a key, and of the keys its row had before, are folded
  in their order.

  Expects a CTE `partial_keys` (source_format, table_id, row_key); ends in
  `completed_rows` (those three, `row`, `origin_keys`: the keys the row had
  before).  Events are read from `change_events`, table ends from `table_ends`.
-#}
{% macro completed_rows() -%}
events as (select * from {{ ref('change_events') }}),

-- A row that moved to another key takes its missing values from the old one:
-- the update says which, or a delete at the same log position is its first half.
moves as (

    select
        moved.source_format,
        moved.table_id,
        moved.row_key,
        moved.event_id,
        coalesce(moved.previous_row_key, removed.row_key) as origin_key
    from events as moved
    left join events as removed
        on
            moved.op = 'insert'
            and removed.op = 'delete'
            and moved.source_format = removed.source_format
            and moved.table_id = removed.table_id
            and moved.sequence.position = removed.sequence.position
            and moved.transaction_id <=> removed.transaction_id
    where
        size(moved.unavailable_columns) > 0
        and coalesce(moved.previous_row_key, removed.row_key) is not null

),

lineage as (

    with recursive ancestors (source_format, table_id, row_key, ancestor_key, depth) as (
        select source_format, table_id, row_key, row_key, 0
        from partial_keys
        union all
        select
            ancestors.source_format,
            ancestors.table_id,
            ancestors.row_key,
            moves.origin_key,
            ancestors.depth + 1
        from ancestors
        inner join moves
            on
                ancestors.source_format = moves.source_format
                and ancestors.table_id = moves.table_id
                and ancestors.ancestor_key = moves.row_key
        where ancestors.depth < {{ var('longest_key_chain') }}
    )

    select distinct source_format, table_id, row_key, ancestor_key
    from ancestors

),

-- What happened to the row under each of its keys, and the ends of its table.
happenings as (

    select distinct
        lineage.source_format,
        lineage.table_id,
        lineage.row_key as root_key,
        events.event_id
    from lineage
    inner join events
        on
            lineage.source_format = events.source_format
            and lineage.table_id = events.table_id
            and (
                lineage.ancestor_key = events.row_key
                or lineage.ancestor_key = events.previous_row_key
            )

),

steps as (

    select
        happenings.source_format,
        happenings.table_id,
        happenings.root_key,
        struct(
            events.sequence,
            events.op = 'delete' as is_removal,
            false as is_end,
            events.row_key,
            coalesce(moves.origin_key, events.previous_row_key) as origin_key,
            events.previous_row_key,
            events.unavailable_columns,
            cast(events.after as map<string, variant>) as columns
        ) as step
    from happenings
    inner join events
        on
            happenings.source_format = events.source_format
            and happenings.event_id = events.event_id
    left join moves
        on
            events.source_format = moves.source_format
            and events.event_id = moves.event_id

    union all

    select
        roots.source_format,
        roots.table_id,
        roots.row_key as root_key,
        struct(
            table_ends.sequence,
            false as is_removal,
            true as is_end,
            cast(null as string) as row_key,
            cast(null as string) as origin_key,
            cast(null as string) as previous_row_key,
            cast(null as array<string>) as unavailable_columns,
            cast(null as map<string, variant>) as columns
        ) as step
    from partial_keys as roots
    inner join table_ends
        on
            roots.source_format = table_ends.source_format
            and roots.table_id = table_ends.table_id

),

ordered_steps as (

    select
        source_format,
        table_id,
        root_key,
        array_sort(
            collect_list(step),
            (one, other) -> case
                when one.sequence < other.sequence then -1
                when other.sequence < one.sequence then 1
                when one.is_removal and not other.is_removal then -1
                when other.is_removal and not one.is_removal then 1
                else 0
            end
        ) as steps
    from steps
    group by source_format, table_id, root_key

),

-- rows: key -> the row under it.  A removed row stays known, for a later step
-- that says that it moved.
folded as (

    select
        source_format,
        table_id,
        root_key,
        aggregate(
            steps,
            cast(
                map() as map<string, struct<is_live: boolean, columns: map<string, variant>>>
            ),
            (rows, step) -> case
                when step.is_end then cast(
                    map() as map<string, struct<is_live: boolean, columns: map<string, variant>>>
                )
                when step.is_removal then transform_values(
                    rows,
                    (key, held) -> named_struct(
                        'is_live', held.is_live and key <> step.row_key,
                        'columns', held.columns
                    )
                )
                else map_concat(
                    transform_values(
                        rows,
                        (key, held) -> named_struct(
                            'is_live',
                            held.is_live and not key <=> step.previous_row_key,
                            'columns', held.columns
                        )
                    ),
                    map(
                        step.row_key,
                        named_struct(
                            'is_live', true,
                            'columns', map_concat(
                                map_filter(
                                    coalesce(
                                        rows[step.origin_key].columns,
                                        case
                                            when rows[step.row_key].is_live
                                                then rows[step.row_key].columns
                                        end,
                                        cast(map() as map<string, variant>)
                                    ),
                                    (name, value) -> array_contains(
                                        step.unavailable_columns, name
                                    )
                                ),
                                step.columns
                            )
                        )
                    )
                )
            end
        ) as rows
    from ordered_steps

),

completed_rows as (

    select
        folded.source_format,
        folded.table_id,
        folded.root_key as row_key,
        to_variant_object(folded.rows[folded.root_key].columns) as `row`,
        origins.origin_keys
    from folded
    inner join (
        select
            source_format,
            table_id,
            row_key,
            collect_set(ancestor_key) as origin_keys
        from lineage
        group by source_format, table_id, row_key
    ) as origins
        on
            folded.source_format = origins.source_format
            and folded.table_id = origins.table_id
            and folded.root_key = origins.row_key

)
{%- endmacro %}
