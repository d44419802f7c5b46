-- noqa: disable=LT02
{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The colliding keys: two rows may have had such a key at once.  A run applies
-- all effects on these keys again, because the newest effect alone does not
-- always say which row remains.  A key collides in two cases:
--
-- - Within one transaction, a row came to the key before another row left it,
--   and one of the two changed its key.  A database allows this, for example a
--   swap of two keys, if it checks uniqueness only at the end of a statement or
--   transaction.  If messages name no transaction, changes of one time count as
--   one transaction.
-- - One partition reports a key change, and another partition reports a change
--   of the old or the new key at the same position.  The order of the two
--   changes is not known.

{#- The first run reads these inputs too, so that it notes their watermarks. -#}
{%- set new_touched_keys = new_rows(ref('int_touched_keys')) %}
{%- set new_truncations = new_rows(ref('int_truncations')) %}
{%- set new_exceptions = new_rows(ref('int_exceptional_records')) %}
{%- set known_key_changes = rows_so_far(ref('int_key_changes')) %}

with

new_key_changes as (
    select * from {{ new_rows(ref('int_key_changes')) }}
),

key_changes as (

    select key_changes.*
    from {{ known_key_changes }} as key_changes
    left semi join new_key_changes
        on {{ matches('key_changes', 'new_key_changes') }}

),

keys_shared_in_a_transaction as (

    select
        source_format,
        table_id,
        row_key
    from key_changes
    -- if a format reports key changes as deletes and inserts, a delete and an
    -- insert of one time and without a transaction may be unrelated
    where
        is_key_change
        or transaction_id is not null
        or not {{ is_of_format_that('splits_key_changes') }}
    group by
        source_format,
        table_id,
        row_key,
        {{ transaction_of_effect() }}
    having
        min(case when effect = 'upsert' then sequence end)
        < max(case when effect = 'delete' then sequence end)

),

unordered_key_changes as (

    select * from key_changes
    where
        is_key_change
        and {{ is_of_format_that('ordered_by_landing') }}

),

keys_with_unordered_effects as (

    select distinct
        changing.source_format,
        changing.table_id,
        changing.row_key
    from unordered_key_changes as changing
    inner join key_changes as effects_beside
        on
            {{ matches('changing', 'effects_beside') }}
            and changing.sequence.position = effects_beside.sequence.position
            and not (
                changing.topic = effects_beside.topic
                and changing.sequence.`partition`
                = effects_beside.sequence.`partition`
            )

){% if is_incremental() %},

colliding_keys as (

    select distinct
        source_format,
        table_id,
        row_key
    from {{ this }}

),

new_deliveries as (

    select
        source_format,
        table_id,
        message_position
    from new_key_changes
    where {{ is_of_format_that('splits_key_changes') }}

    union all

    select
        source_format,
        table_id,
        delivery_position as message_position
    from {{ new_exceptions }}
    where exception = 'redelivery'

),

-- Each of them may show that a delete and an insert at its position are one key
-- change, or that they are none.
keys_beside_new_deliveries as (

    select
        known_key_changes.source_format,
        known_key_changes.table_id,
        known_key_changes.row_key
    from {{ known_key_changes }} as known_key_changes
    left semi join new_deliveries
        on
            {{ matches(
                'known_key_changes', 'new_deliveries', columns_of_table()
            ) }}
            and known_key_changes.message_position
            <=> new_deliveries.message_position

),

touched_keys as (

    select
        source_format,
        table_id,
        row_key
    from {{ new_touched_keys }}
    where not is_keyless

    union all

    select * from keys_beside_new_deliveries

),

new_truncations as (select * from {{ new_truncations }}),

colliding_keys_touched_again as (

    select colliding_keys.*
    from colliding_keys
    left semi join touched_keys
        on {{ matches('colliding_keys', 'touched_keys') }}

    union

    -- a truncation separates the rows before it from the rows after it
    select colliding_keys.*
    from colliding_keys
    left semi join new_truncations
        on {{ matches(
            'colliding_keys', 'new_truncations', columns_of_table()
        ) }}

)
{%- endif %}

select * from keys_shared_in_a_transaction

union

select * from keys_with_unordered_effects
{% if is_incremental() %}
union

select * from colliding_keys_touched_again
{%- endif %}
