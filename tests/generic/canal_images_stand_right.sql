{#-
  An update's image before is the row as the event before it left it.  Where the
  updates of a topic fit their predecessors only when read the other way round,
  `swapped_canal_topics` is wrong about the topic: told is the day, and what to
  set.  A day with as many updates that fit as they are is let pass.
-#}
{% test canal_images_stand_right(model) %}

{%- set settings = var('swapped_canal_topics') %}

with

events as (

    select
        topic,
        op,
        event_at,
        sequence,
        table_id,
        row_key,
        previous_row_key,
        size(key_columns) as key_size,
        -- Canal's values are texts.
        try_cast(before as map<string, string>) as before,
        try_cast(after as map<string, string>) as after
    from {{ model }}
    where source_format = 'canal_json'

),

followed as (

    select
        topic,
        op,
        event_at,
        previous_row_key,
        before,
        after,
        lag(op) over row_events as op_before,
        lag(before) over row_events as before_before,
        lag(after) over row_events as after_before
    from events
    where key_size > 0
    window row_events as (
        partition by topic, table_id, row_key
        order by sequence
    )

),

updates as (

    select
        topic,
        event_at,
        {{ images_agree('before', 'after') }} as is_unchanged,
        {{ images_agree('before', 'after_before') }} as is_right,
        -- Read the wrong way round the event before is told wrong as well.
        if(
            op_before = 'update',
            {{ images_agree('after', 'before_before') }},
            {{ images_agree('after', 'after_before') }}
        ) as is_right_if_swapped
    from followed
    where
        op = 'update'
        and previous_row_key is null
        and after_before is not null

),

days as (

    select
        topic,
        date(event_at) as event_date,
        min(event_at) as first_event_at,
        max(event_at) as last_event_at,
        count_if(is_right and not is_right_if_swapped) as updates_right,
        count_if(is_right_if_swapped and not is_right)
            as updates_right_if_swapped
    from updates
    where not is_unchanged
    group by topic, date(event_at)

),

validation_errors as (

    select
        *,
        {{ swapped_topic_advice(settings) }} as advice
    from days
    where updates_right_if_swapped > updates_right

)

select * from validation_errors

{% endtest %}
