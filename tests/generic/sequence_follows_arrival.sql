{#-
  The events of a row arrive in their order: within a partition the sequence
  rises with the offset.  Carriers may deliver late events; a warning says so.
-#}
{% test sequence_follows_arrival(model) %}

{{ config(severity='warn') }}

with

events as (select * from {{ model }}),

followed as (

    select
        event_id,
        source_format,
        table_id,
        row_key,
        sequence,
        lag(sequence) over (
            partition by source_format, table_id, row_key, topic, `partition`
            order by offset, row_index
        ) as sequence_before
    from events

),

validation_errors as (

    select * from followed
    where sequence < sequence_before

)

select * from validation_errors

{% endtest %}
