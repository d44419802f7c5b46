{#-
  The before image of an update is the row that the previous event left.  If the
  updates of a topic fit the previous events only with their images swapped, the
  setting `swapped_canal_topics` is wrong for this topic.  The test reports the
  days, and the setting that fits best.  It does not report a day on which at
  least as many updates fit without swapping.

  staging: the staging table, which stores the setting with which its rows were
  read.  Without it, the setting of the project is used.
-#}
{% test canal_images_stand_right(model, staging=none) %}

{%- set settings = swapped_topics_of(staging) %}

with

events as (

    select
        topic,
        op,
        published_at,
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
        published_at,
        sequence,
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
        published_at,
        sequence,
        case
            {% for topic, setting in settings.items() -%}
            when topic = {{ adapter.string_literal(topic) }}
                then {{ is_read_as_swapped(setting) }}
            {% endfor -%}
            when true then false
        end as is_read_as_swapped,
        -- The row before it is the image after of an event that was read right,
        -- or the image before of one that was not.
        not {{ images_differ('before', 'after_before') }}
        or (
            op_before = 'update'
            and not {{ images_differ('before', 'before_before') }}
        ) as fits,
        not {{ images_differ('after', 'after_before') }}
        or (
            op_before = 'update'
            and not {{ images_differ('after', 'before_before') }}
        ) as fits_the_other_way
    from followed
    where
        op = 'update'
        and previous_row_key is null
        and after_before is not null
        and {{ images_differ('before', 'after') }}

),

-- An update that fits both ways proves nothing.
proofs as (

    select
        topic,
        published_at,
        sequence,
        if(fits, 1, -1) as is_right,
        if(fits = is_read_as_swapped, 1, -1) as is_swapped
    from updates
    where fits <> fits_the_other_way

),

-- A topic is swapped until some time: the one with the most updates that are
-- swapped before it and as usual after it.
balances as (

    select
        *,
        sum(is_right) over (partition by topic) as fit_as_set,
        sum(is_swapped) over (partition by topic) as last_balance,
        sum(is_swapped) over (
            partition by topic
            order by published_at, sequence
        ) as balance
    from proofs

),

highest_balances as (

    select
        *,
        greatest(max(balance) over (partition by topic), 0) as highest_balance
    from balances

),

last_swapped as (

    select
        *,
        min(if(balance > 0 and balance = highest_balance, published_at, null))
            over (partition by topic) as last_swapped_at
    from highest_balances
    where 2 * highest_balance - last_balance > fit_as_set

),

wrongly_set as (

    select
        *,
        min(if(
            is_swapped < 0 and published_at > last_swapped_at,
            published_at,
            null
        )) over (partition by topic) as usual_from
    from last_swapped

),

days as (

    select
        topic,
        date(published_at) as published_on,
        any_value(last_swapped_at) as last_swapped_at,
        any_value(usual_from) as usual_from,
        count_if(is_right > 0) as updates_right,
        count_if(is_right < 0) as updates_right_if_swapped
    from wrongly_set
    group by topic, date(published_at)

),

validation_errors as (

    select
        topic,
        published_on,
        updates_right,
        updates_right_if_swapped,
        {{ swapped_topic_advice() }} as advice
    from days
    where updates_right_if_swapped > updates_right

)

select * from validation_errors

{% endtest %}
