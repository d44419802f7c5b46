{#-
  Three or more rows of a full load that are equal except for their keys do not
  pass their keys on to each other within one transaction.  A full load may read
  such a row under its new key, and then it looks like the row that had this key
  before.  A warning names the tables and transactions; `cdc-marts resync`
  repairs a table.  Events before the last truncation do not count.

  model: the events with their images, as in `change_events`.  colliding_keys:
  the keys that two rows held within one transaction.  truncations: as
  `int_truncations`.
-#}
{% test equal_rows_keep_their_keys(model, colliding_keys, truncations) %}

{{ config(severity='warn') }}

with

colliding_keys as (

    select * from {{ colliding_keys }}

),

events as ({{ since_truncations_sql(model, truncations) }}),

events_on_colliding_keys as (

    select events.*
    from events
    left semi join colliding_keys
        on {{ matches('events', 'colliding_keys') }}

),

loaded_keys as (

    select distinct
        source_format,
        table_id,
        row_key
    from events_on_colliding_keys
    where op = 'snapshot'

),

moved_rows as (

    select
        source_format,
        table_id,
        {{ transaction_of_effect() }} as transaction_id,
        row_key,
        event_at,
        to_json(map_filter(
            cast(after as map<string, variant>),
            (name, value) -> not array_contains(key_columns, name)
        )) as row_without_key
    from events_on_colliding_keys
    where op in ('insert', 'update')

),

validation_errors as (

    select
        moved_rows.source_format,
        moved_rows.table_id,
        moved_rows.transaction_id,
        count(distinct moved_rows.row_key) as passed_keys,
        max(moved_rows.event_at) as last_event_at
    from moved_rows
    left join loaded_keys
        on {{ matches('moved_rows', 'loaded_keys') }}
    group by
        moved_rows.source_format,
        moved_rows.table_id,
        moved_rows.transaction_id,
        moved_rows.row_without_key
    -- A key that was passed on belongs to two rows: two such keys, three rows.
    having
        count(distinct moved_rows.row_key) > 1
        and count(loaded_keys.row_key) > 0

)

select * from validation_errors

{% endtest %}
