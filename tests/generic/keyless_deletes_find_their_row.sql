{#-
  A delete or an update in a keyless table removes a row that exists.  It finds
  no row in two cases.  The row never landed, for example because the full load
  is missing; then the next insert of an equal row only sets the count to 0.  Or
  the table has got or lost a column since; then the delete has other columns
  than the row, and the row stays.  A warning names the tables; `cdc-marts
  resync` repairs them.  Effects before the last truncation do not count.

  model: the effects, as in `int_row_effects`.  truncations: as
  `int_truncations`.
-#}
{% test keyless_deletes_find_their_row(model, truncations) %}

{{ config(severity='warn') }}

with

effects as (
    {{ since_truncations_sql(model, truncations) }}
    where events.is_keyless
),

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
    from effects

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
