{#-
  A row that is inserted and deleted within one transaction has one image.  Where
  the delete has another image, it deleted an older row of the key, and the
  inserted row stayed at the source: with a check that waits for the end of the
  transaction, a row may come to a key before the older one leaves it.  A warning
  names the tables and transactions; `cdc-marts resync` repairs a table.

  model: as `int_row_effects`.  superseded: the effects that do not count for
  their key, as in `int_superseded_effects`.  truncations: as `int_truncations`.
-#}
{% test deletes_take_the_inserted_row(model, superseded, truncations) %}

{{ config(severity='warn') }}

with

effects as (

    select
        *,
        {{ transaction_of_effect() }} as transaction_key
    from {{ model }}
    -- databases with sparse rows have no such checks
    where
        not is_keyless
        and not {{ is_of_format_that('has_sparse_rows') }}

),

superseded_effects as (select * from {{ superseded }}),

last_truncations as (
    {{ last_truncations_of_tables_sql(truncations) }}
),

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

followed_effects as (

    select
        effects.*,
        lag(struct(effects.effect, effects.after)) over (
            partition by
                effects.source_format,
                effects.table_id,
                effects.row_key,
                effects.transaction_key
            order by effects.sequence
        ) as previous
    from effects
    left semi join keys_inserted_and_deleted
        on {{ matches(
            'effects',
            'keys_inserted_and_deleted',
            columns_of_key() + ['transaction_key'],
        ) }}
    left anti join superseded_effects
        on {{ matches(
            'effects',
            'superseded_effects',
            columns_of_key() + ['event_id', 'effect'],
        ) }}

),

deletes as (

    select
        *,
        try_cast(before as map<string, string>) as deleted_row,
        try_cast(previous.after as map<string, string>) as inserted_row
    from followed_effects
    where op = 'delete' and previous.effect = 'upsert'

),

validation_errors as (

    select
        deletes.source_format,
        deletes.table_id,
        deletes.row_key,
        deletes.transaction_key,
        deletes.event_id,
        deletes.event_at
    from deletes
    left join last_truncations
        on {{ matches('deletes', 'last_truncations', columns_of_table()) }}
    where
        {{ images_differ('deletes.deleted_row', 'deletes.inserted_row') }}
        and not coalesce(
            {{ is_truncated_by('deletes', 'last_truncations') }}, false
        )

)

select * from validation_errors

{% endtest %}
