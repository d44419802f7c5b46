{#-
  Every event has one of the four ops, from an operation code of its format.
-#}
{% test accepted_ops(model) %}

with

events as (select * from {{ model }}),

source_ops as (select * from {{ ref('source_ops') }}),

validation_errors as (

    select
        events.event_id,
        events.source_format,
        events.op,
        events.source_op
    from events
    left anti join source_ops
        on
            events.source_format = source_ops.source_format
            and upper(events.source_op) = upper(source_ops.source_op)
            and events.op in ('insert', 'update', 'delete', 'snapshot')

)

select * from validation_errors

{% endtest %}
