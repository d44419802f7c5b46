{#-
  The state equals a replay of all events.  For each key, this is the last
  effect, unless a later truncation of the table deleted the row.  For filled
  rows, the test compares only the last event.

  `events`: the log to replay.  `truncations`: where tables were emptied.
  `lost_columns`: where tables lost columns.  `colliding_keys`: keys that two
  rows may have held at once; they are left to the test of the history.
-#}
{% test state_equals_replay(
    model, events, truncations, lost_columns, colliding_keys
) %}

with

state as (select * from {{ model }}),

lost_columns as ({{ lost_columns_of_tables_sql(lost_columns) }}),

colliding_keys as (select * from {{ colliding_keys }}),

outliving_events as ({{ since_truncations_sql(events, truncations) }}),

effects as (

    select
        source_format,
        table_id,
        row_key,
        sequence,
        event_id,
        size(key_columns) = 0 as is_keyless,
        op <> 'delete' as is_upsert,
        case
            when op = 'delete' then -1
            when to_json(before) = to_json(after) then 0
            else 1
        end as count_change,
        size(unavailable_columns) > 0 as is_partial,
        after as `row`
    from outliving_events

    union all

    select
        source_format,
        table_id,
        previous_row_key as row_key,
        sequence,
        event_id,
        size(key_columns) = 0 as is_keyless,
        false as is_upsert,
        -1 as count_change,
        false as is_partial,
        cast(null as variant) as `row`
    from outliving_events
    where previous_row_key is not null

),

replayed as (

    select
        source_format,
        table_id,
        row_key,
        if(
            is_keyless,
            sum(count_change),
            cast(max_by(is_upsert, struct(sequence, is_upsert)) as int)
        ) as row_count,
        max_by(event_id, struct(sequence, is_upsert)) as last_event_id,
        if(
            is_keyless or bool_or(is_partial),
            cast(null as variant),
            max_by(`row`, struct(sequence, is_upsert))
        ) as `row`,
        max(sequence) as sequence,
        is_keyless
    from effects
    group by source_format, table_id, row_key, is_keyless

),

-- A key of all columns names the same row as its table without a key: the newer
-- of the two events says which one the row has.
compared as (

    select
        *,
        max(if(is_keyless, null, sequence)) over same_row as keyed_sequence,
        max(if(is_keyless, sequence, null)) over same_row as keyless_sequence,
        sum(if(is_keyless, 0, row_count)) over same_row as keyed_count
    from replayed
    window same_row as (
        partition by
            source_format,
            table_id,
            coalesce({{ sorted_row_key('row_key') }}, row_key)
    )

),

live_rows as (

    select
        replayed.source_format,
        replayed.table_id,
        replayed.row_key,
        if(
            replayed.is_keyless,
            replayed.row_count + replayed.keyed_count,
            replayed.row_count
        ) as row_count,
        replayed.last_event_id,
        to_json({{ without_dropped_columns(
            'replayed.`row`',
            'replayed.sequence',
            'lost_columns.lost_columns',
        ) }}) as row_text
    from compared as replayed
    left join lost_columns
        on
            replayed.source_format = lost_columns.source_format
            and replayed.table_id = lost_columns.table_id
    where
        replayed.row_count
        + if(replayed.is_keyless, replayed.keyed_count, 0) > 0
        and not coalesce(
            if(
                replayed.is_keyless,
                replayed.keyed_sequence,
                replayed.keyless_sequence
            ) > replayed.sequence,
            false
        )

),

validation_errors as (

    select
        coalesce(state.source_format, live_rows.source_format) as source_format,
        coalesce(state.table_id, live_rows.table_id) as table_id,
        coalesce(state.row_key, live_rows.row_key) as row_key,
        to_json(state.`row`) as state_row,
        live_rows.row_text as replayed_row,
        state.row_count as state_count,
        live_rows.row_count as replayed_count
    from state
    full outer join live_rows
        on
            state.source_format = live_rows.source_format
            and state.table_id = live_rows.table_id
            and state.row_key = live_rows.row_key
    left anti join colliding_keys
        on
            coalesce(state.source_format, live_rows.source_format)
            = colliding_keys.source_format
            and coalesce(state.table_id, live_rows.table_id)
            = colliding_keys.table_id
            and coalesce(state.row_key, live_rows.row_key)
            = colliding_keys.row_key
    where
        not (
            state.row_count <=> live_rows.row_count
            and state.last_event_id <=> live_rows.last_event_id
            and (
                live_rows.row_text is null
                or to_json(state.`row`) = live_rows.row_text
            )
        )

)

select * from validation_errors

{% endtest %}
