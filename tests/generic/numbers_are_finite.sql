{#-
  No image holds an infinite number.  JSON has none: the message has a number beyond
  the range of a double, such as 1e400, which a VARIANT can't hold.  A warning names
  the event and the column; the landing table has the number itself.

  model: events with their images, as in `change_events`.
-#}
{% test numbers_are_finite(model) %}

{{ config(severity='warn') }}

with

events as (

    select * from {{ model }}
    where
        to_json(before) like '%Infinity"%'
        or to_json(after) like '%Infinity"%'

),

column_values as (

    select
        source_format,
        table_id,
        event_id,
        column_name,
        column_value
    from events
        lateral view explode(map_concat(
            coalesce(cast(before as map<string, variant>), map()),
            coalesce(cast(after as map<string, variant>), map())
        )) as column_name, column_value

),

validation_errors as (

    select
        source_format,
        table_id,
        event_id,
        column_name
    from column_values
    where
        schema_of_variant(column_value) in ('DOUBLE', 'FLOAT')
        and to_json(column_value) like '%Infinity"'

)

select * from validation_errors

{% endtest %}
