{#-
  An update in a keyless table has a before image, which identifies the old row.
  Without it, the old row stays.  A warning names the tables.  The setting `key`
  gives such a table a key, so that its updates need no before image.
-#}
{% test keyless_updates_name_their_row(model) %}

{{ config(severity='warn') }}

with

events as (select * from {{ model }}),

validation_errors as (

    select
        source_format,
        table_id,
        count(*) as updates,
        max(event_at) as last_event_at
    from events
    where
        op = 'update'
        and size(key_columns) = 0
        and before is null
    group by source_format, table_id

)

select * from validation_errors

{% endtest %}
