{#-
  A message that repeats the position and the images of an earlier message
  counts as its redelivery.  But it may be a change of its own: another one of
  the equal rows of a keyless table; the second of two changes within one
  transaction that gave a row the same values, if no later change follows; the
  second of two truncations, if rows were written in between; or a row of a
  repeated full load that has returned to an earlier value.  A warning names the
  tables in which the source may have other rows.  A new full load shows the
  rows of the source.

  model: the records, as in `int_records`.  exceptions: the exceptional records,
  as in `int_exceptional_records`.
-#}
{% test redeliveries_are_certain(model, exceptions) %}

{{ config(severity='warn') }}

with

records as (

    select
        *,
        {{ is_of_format_that('known_by_images') }} as is_known_by_images,
        {{ is_of_format_that('numbers_no_loads') }} as has_unnumbered_loads
    from {{ model }}

),

redeliveries as (

    select * from {{ exceptions }}
    where exception = 'redelivery'

),

deliveries as (

    select
        records.source_format,
        records.table_id,
        records.row_key,
        records.topic,
        records.`partition` as topic_partition,
        records.sequence.position,
        records.event_id,
        size(records.key_columns) = 0 as is_keyless,
        redeliveries.event_id is not null as is_redelivery,
        records.event_at,
        struct(records.offset, records.row_index) as place
    from records
    left join redeliveries
        on {{ is_same_record('records', 'redeliveries') }}
    where
        records.record_type = 'change'
        and records.sequence.position is not null
        and (
            records.is_known_by_images
            or records.op = 'snapshot'
            and records.has_unnumbered_loads
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

repeated_truncations as (

    select
        source_format,
        table_id,
        topic,
        `partition` as topic_partition,
        sequence.position,
        count(*) - 1 as redeliveries,
        min(offset) as first_offset,
        max(offset) as last_offset,
        max(event_at) as last_event_at
    from records
    where
        record_type = 'ddl'
        and is_truncation
        and is_known_by_images
    group by source_format, table_id, topic, `partition`, sequence.position
    having count(*) > 1

),

uncertain_truncations as (

    select truncations.*
    from repeated_truncations as truncations
    left semi join deliveries
        on
            {{ matches('truncations', 'deliveries', [
                'source_format', 'table_id', 'topic', 'topic_partition', 'position'
            ]) }}
            and deliveries.place.offset > truncations.first_offset
            and deliveries.place.offset < truncations.last_offset

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

    union all

    select
        source_format,
        table_id,
        cast(null as boolean) as is_keyless,
        sum(redeliveries) as redeliveries,
        max(last_event_at) as last_event_at
    from uncertain_truncations
    group by source_format, table_id

)

select * from validation_errors

{% endtest %}
