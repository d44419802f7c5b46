{#- Any two events of a table have an order. -#}
{% test sequence_is_unique(model) %}

with

events as (select * from {{ model }}),

validation_errors as (

    select
        source_format,
        table_id,
        sequence,
        count(*) as events
    from events
    group by source_format, table_id, sequence
    having count(*) > 1 or sequence is null

)

select * from validation_errors

{% endtest %}
