{#-
  No event repeats another event under another id.  If a DTS task is created
  again, it numbers its records from the beginning, and each run of a DataWorks
  task may number them anew.  So a change that it repeats counts as another
  event.  In full loads of keyless tables, the rows of CDL, StreamX and DataHub
  TUPLE have no ids.  If a row of a keyless table is inserted or changed while a
  full load runs, both the load and the stream have it.  But two changes that
  differ only in their ids may also be two changes: equal rows of a keyless
  table, or a row that got the same values twice within one transaction.  A
  warning names the tables; a new full load shows the rows of the source.  In
  keyless tables, events before the last truncation do not count.

  model: the events with their images, as in `change_events`.  keyless_rows: as
  `int_keyless_rows`.  truncations: as `int_truncations`.
-#}
{% test events_happened_once(model, keyless_rows, truncations) %}

{{ config(severity='warn') }}

with

keyless_rows as (select * from {{ keyless_rows }}),

truncations as (select * from {{ truncations }}),

events as (

    select
        events.*,
        size(events.key_columns) = 0 as is_keyless
    from {{ model }} as events
    left anti join truncations
        on
            {{ matches('events', 'truncations', columns_of_table()) }}
            and {{ is_truncated_by('events', 'truncations') }}
            and size(events.key_columns) = 0

),

alike_events as (

    select
        source_format,
        table_id,
        row_key,
        is_keyless,
        event_at,
        count(*) as events
    from events
    where
        {{ is_of_format_that('renumbers_records') }}
        and (is_keyless or op <> 'snapshot')
        or (
            {{ is_of_format_that('known_by_images') }}
            or {{ is_of_format_that('numbers_no_loads') }}
        )
        and is_keyless
        and op = 'snapshot'
    group by
        source_format,
        table_id,
        row_key,
        is_keyless,
        previous_row_key,
        op,
        transaction_id,
        event_at,
        xxhash64(to_json(before)),
        xxhash64(to_json(after))
    having count(*) > 1

),

loaded_and_streamed_rows as (

    select
        events.source_format,
        events.table_id,
        events.row_key,
        max(events.event_at) as event_at,
        least(
            count_if(events.op = 'snapshot'),
            count_if(events.op <> 'snapshot')
        ) as repeated_events
    from events
    -- a row that is there once is not counted twice
    left semi join keyless_rows
        on
            {{ matches('events', 'keyless_rows') }}
            and keyless_rows.row_count > 1
    where events.is_keyless and events.after is not null
    group by events.source_format, events.table_id, events.row_key

),

repeated_events as (

    select
        source_format,
        table_id,
        is_keyless,
        events - 1 as repeated_events,
        event_at
    from alike_events

    union all

    select
        source_format,
        table_id,
        true as is_keyless,
        repeated_events,
        event_at
    from loaded_and_streamed_rows
    where repeated_events > 0

),

validation_errors as (

    select
        source_format,
        table_id,
        is_keyless,
        sum(repeated_events) as repeated_events,
        max(event_at) as last_event_at
    from repeated_events
    group by source_format, table_id, is_keyless

)

select * from validation_errors

{% endtest %}
