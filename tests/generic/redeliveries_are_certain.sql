{#-
  A message that repeats the position and the images of an earlier one is taken
  for its redelivery.  Perhaps it is a change of its own: another of the equal rows
  of a keyless table, or the second of two changes within one transaction that
  gave a row the same values, when no later one follows.  Likewise a row that
  repeated full loads bring as it was before.  A warning names the tables, in
  which the source may have other rows; a new full load shows it.
-#}
{% test redeliveries_are_certain(model) %}

{{ config(severity='warn') }}

with

effects as (select * from {{ model }}),

deliveries as (

    select
        source_format,
        table_id,
        row_key,
        topic,
        sequence.`partition` as topic_partition,
        sequence.position,
        event_id,
        is_keyless,
        effect = 'redelivery' as is_redelivery,
        event_at,
        struct(sequence.offset, sequence.row_index) as place
    from effects
    where
        sequence.position is not null
        and (
            effect in ('upsert', 'redelivery')
            or (effect = 'removal' and op = 'delete')
        )
        and (
            {{ is_of_format_that('known_by_images') }}
            or op = 'snapshot' and {{ is_of_format_that('numbers_no_loads') }}
        )

),

redelivered_rows as (

    select
        source_format,
        table_id,
        row_key,
        count_if(is_redelivery) as redeliveries,
        bool_or(is_keyless) as is_keyless,
        max(event_at) as last_event_at,
        max_by(event_id, place) as last_delivered_id,
        max_by(event_id, place) filter (where not is_redelivery) as last_event_id
    from deliveries
    group by source_format, table_id, row_key, topic, topic_partition, position
    having count_if(is_redelivery) > 0

),

validation_errors as (

    select
        source_format,
        table_id,
        is_keyless,
        sum(redeliveries) as redeliveries,
        max(last_event_at) as last_event_at
    from redelivered_rows
    where is_keyless or last_delivered_id <> last_event_id
    group by source_format, table_id, is_keyless

)

select * from validation_errors

{% endtest %}
