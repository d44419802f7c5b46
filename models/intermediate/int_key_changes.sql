{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The effects by which a row may have come to a key that another row holds, or
-- left it: those of key changes, and where a format reports a key change as a
-- delete and an insert, of all of these.  An effect whose place has changed is
-- listed again.

{#- A first run builds on it too: the next one goes on from there. -#}
{%- set new_touched_keys = new_rows(ref('int_touched_keys')) %}

with

{% if is_incremental() -%}
revised_keys as (

    select distinct
        source_format,
        table_id,
        row_key
    from {{ new_touched_keys }}
    where is_revised and not is_keyless

),
{%- endif %}

effects as (

    select * from {{ new_rows(ref('int_row_effects')) }}

    {% if is_incremental() -%}
    union all

    select effects.*
    from {{ rows_so_far(ref('int_row_effects')) }} as effects
    left semi join revised_keys
        on {{ matches('effects', 'revised_keys') }}
    {%- endif %}

),

key_changes as (

    select distinct
        source_format,
        table_id,
        row_key,
        topic,
        op,
        event_id,
        transaction_id,
        event_at,
        sequence,
        is_key_change,
        effect
    from effects
    where
        not is_keyless
        and (
            is_key_change
            or (
                op in ('insert', 'delete')
                and {{ is_of_format_that('moves_rows_by_delete_and_insert') }}
            )
        )

)

select * from key_changes
