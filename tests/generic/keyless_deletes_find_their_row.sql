{#-
  A delete in a keyless table, or an update, takes away a row that was there.  It
  finds none in two cases.  The row never landed, as without a full load: then the
  next insert of an equal row makes up for it and is not seen.  Or the table got or
  lost a column since: the delete has other columns than the row, which stays.  A
  warning names the tables; `cdc-marts resync` repairs them.

  model: effects, as in `int_row_effects`.
-#}
{% test keyless_deletes_find_their_row(model) %}

{{ config(severity='warn') }}

with

counted_effects as (

    select
        source_format,
        table_id,
        row_key,
        event_at,
        sum(if(effect = 'upsert', 1, -1)) over (
            partition by source_format, table_id, row_key
            order by sequence
            rows between unbounded preceding and current row
        ) as row_count
    from {{ model }}
    where is_keyless

),

validation_errors as (

    select
        source_format,
        table_id,
        count(distinct row_key) as row_keys,
        max(event_at) as last_event_at
    from counted_effects
    where row_count < 0
    group by source_format, table_id

)

select * from validation_errors

{% endtest %}
