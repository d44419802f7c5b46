{#-
  A row that is inserted and deleted within one transaction has one image.  Where
  the delete has another image, it deleted an older row of the key, and the
  inserted row stayed at the source: with a check that waits for the end of the
  transaction, a row may come to a key before the older one leaves it.  A warning
  names the tables and transactions; `cdc-marts resync` repairs a table.

  A null in the image of a delete contradicts no value, because some logs have
  nulls in place of values that they leave out.  Where before images mislead,
  defaults may stand there too.  Then the test names only inserts under a key
  whose older row is known and has not left.

  model: as `int_row_effects`.  superseded: the effects that do not count for
  their key, as in `int_superseded_effects`.  truncations: as `int_truncations`.
-#}
{% test deletes_take_the_inserted_row(model, superseded, truncations) %}

{{ config(severity='warn') }}

with

effects_since_truncations as (
    {{ since_truncations_sql(model, truncations) }}
),

effects as (

    select
        *,
        {{ transaction_of_effect() }} as transaction_key,
        {{ is_of_format_that('before_images_mislead') }} as may_mislead
    from effects_since_truncations
    -- databases with sparse rows have no such checks
    where
        not is_keyless
        and not {{ is_of_format_that('has_sparse_rows') }}

),

superseded_effects as (select * from {{ superseded }}),

keys_inserted_and_deleted as (

    select
        source_format,
        table_id,
        row_key,
        transaction_key
    from effects
    where op in ('insert', 'delete')
    group by source_format, table_id, row_key, transaction_key
    having
        min(case when op = 'insert' then sequence end)
        < max(case when op = 'delete' then sequence end)

),

effects_on_keys as (

    select
        effects.*,
        lag(effects.effect) over (
            partition by
                effects.source_format,
                effects.table_id,
                effects.row_key
            order by effects.sequence
        ) as previous_effect
    from effects
    left semi join keys_inserted_and_deleted
        on {{ matches('effects', 'keys_inserted_and_deleted') }}
    left anti join superseded_effects
        on {{ matches(
            'effects',
            'superseded_effects',
            columns_of_key() + ['event_id', 'effect'],
        ) }}

),

followed_effects as (

    select
        *,
        lag(struct(effect, after)) over (
            partition by source_format, table_id, row_key, transaction_key
            order by sequence
        ) as previous,
        last_value(
            if(op = 'insert', coalesce(previous_effect = 'upsert', false), null)
        ) ignore nulls over (
            partition by source_format, table_id, row_key, transaction_key
            order by sequence
        ) as had_older_row
    from effects_on_keys

),

deletes as (

    select
        *,
        map_filter(
            try_cast(before as map<string, string>),
            (column_name, value) -> value is not null
        ) as deleted_row,
        try_cast(previous.after as map<string, string>) as inserted_row
    from followed_effects
    where
        op = 'delete'
        and previous.effect = 'upsert'
        and (had_older_row or not may_mislead)

),

validation_errors as (

    select
        source_format,
        table_id,
        row_key,
        transaction_key,
        event_id,
        event_at
    from deletes
    where {{ images_differ('deleted_row', 'inserted_row') }}

)

select * from validation_errors

{% endtest %}
