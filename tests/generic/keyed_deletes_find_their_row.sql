{#-
  A delete with 0 or an empty text in its key deletes a row that exists.  If the
  replica identity of a table is an index other than its primary key, Debezium
  writes such values for the key of a deleted row, and the row stays.  A warning
  names the tables; `cdc-marts resync` repairs them.  It may also name a row that
  has such a key and never landed.  Effects before the last truncation do not
  count.

  model: the effects, as in `int_row_effects`.  truncations: as
  `int_truncations`.
-#}
{% test keyed_deletes_find_their_row(model, truncations) %}

{{ config(severity='warn') }}

with

effects as (
    {{ since_truncations_sql(model, truncations) }}
    where
        not events.is_keyless
        and {{ is_of_format_that('splits_key_changes') }}
        and exists(
            map_values(from_json(events.row_key, 'map<string, string>')),
            value -> value = '' or try_cast(value as double) = 0
        )
),

preceded_effects as (

    select
        source_format,
        table_id,
        row_key,
        effect,
        event_at,
        lag(effect) over (
            partition by source_format, table_id, row_key
            order by sequence
        ) as previous_effect
    from effects

),

validation_errors as (

    select
        source_format,
        table_id,
        count(*) as deletes,
        max(event_at) as last_event_at
    from preceded_effects
    where effect = 'delete' and previous_effect is distinct from 'upsert'
    group by source_format, table_id

)

select * from validation_errors

{% endtest %}
