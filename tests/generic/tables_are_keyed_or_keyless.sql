{#-
  The messages of a table all name its key, or none does.  A table whose messages
  lack it now and then is told as two, one of them a multiset: a warning names it.
  The setting `key` makes it one.
-#}
{% test tables_are_keyed_or_keyless(model) %}

{{ config(severity='warn') }}

with

effects as (select * from {{ model }}),

validation_errors as (

    select
        source_format,
        table_id,
        count_if(is_keyless) as keyless_effects,
        count_if(not is_keyless) as keyed_effects,
        max(event_at) filter (where is_keyless) as last_keyless_event_at
    from effects
    group by source_format, table_id
    having bool_or(is_keyless) and bool_or(not is_keyless)

)

select * from validation_errors

{% endtest %}
