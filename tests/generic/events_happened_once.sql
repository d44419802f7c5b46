{#-
  No event repeats another event under another id.  If a DTS task is created
  again, it numbers its records from the beginning, and in full loads of keyless
  tables, the rows of CDL, StreamX and DataHub TUPLE have no ids.  So a repeated
  change counts as another event.
  But two changes that differ only in their ids may also be two changes: equal
  rows of a keyless table, or a row that got the same values twice within one
  transaction.  A warning names the tables; a new full load shows the rows of
  the source.

  model: the events with their images, as in `change_events`.
-#}
{% test events_happened_once(model) %}

{{ config(severity='warn') }}

with

events as (

    select
        *,
        size(key_columns) = 0 as is_keyless
    from {{ model }}

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

validation_errors as (

    select
        source_format,
        table_id,
        is_keyless,
        sum(events - 1) as repeated_events,
        max(event_at) as last_event_at
    from alike_events
    group by source_format, table_id, is_keyless

)

select * from validation_errors

{% endtest %}
