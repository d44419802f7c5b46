{#-
  An update in a keyless table has a before image, which identifies the old row.
  Without it, the old row stays.  A warning names the tables.  The setting `key`
  gives such a table a key, so that its updates need no before image.  Updates
  before the last truncation do not count.

  model: the events, as in `change_events`.  truncations: as `int_truncations`.
-#}
{% test keyless_updates_name_their_row(model, truncations) %}

{{ config(severity='warn') }}

with

events as ({{ since_truncations_sql(model, truncations) }}),

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
