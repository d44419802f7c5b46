{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- Where each run read rows of full loads: the first offset and the highest
-- position.  `int_overtaken_changes` looks for changes behind them.

with

loaded_rows as (

    select *
    from {{ new_rows(ref('int_load_following_records')) }}
    where op = 'snapshot' and not is_keyless and message_position is not null

),

load_ranges as (

    select
        source_format,
        table_id,
        topic,
        `partition`,
        min(offset) as first_offset,
        max(message_position) as position
    from loaded_rows
    group by source_format, table_id, topic, `partition`

)

select * from load_ranges
