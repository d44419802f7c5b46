{#-
  If full loads contain a row several times, all copies are in one partition of
  one topic, or are equal.  If rows of a full load have no log position, nothing
  else shows which load is newer.  A warning names the tables; `cdc-marts
  resync` repairs a table from the load that it is given.

  model: the events with their images, as in `change_events`.
-#}
{% test full_loads_are_in_order(model) %}

{{ config(severity='warn') }}

with

loaded_rows as (

    select
        *,
        bool_or(sequence.position is null) over (
            partition by source_format, table_id, row_key
        ) as has_copy_without_position
    from {{ model }}
    where
        op = 'snapshot'
        and size(key_columns) > 0
        and not {{ is_of_format_that('ordered_by_landing') }}

),

unordered_rows as (

    select
        source_format,
        table_id,
        row_key,
        array_sort(collect_set(topic)) as topics,
        max(event_at) as last_event_at
    from loaded_rows
    group by
        source_format,
        table_id,
        row_key,
        if(has_copy_without_position, null, sequence.position)
    having
        count(distinct struct(topic, sequence.`partition`)) > 1
        and count(distinct xxhash64(to_json(after))) > 1

),

validation_errors as (

    select
        source_format,
        table_id,
        topics,
        count(*) as loaded_rows,
        max(last_event_at) as last_event_at
    from unordered_rows
    group by source_format, table_id, topics

)

select * from validation_errors

{% endtest %}
