{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The first and the last offset that each run read from each partition, and the
-- highest position to which messages in this range raise later ones.
-- `int_raised_positions` continues from these ranges.

with

new_records as (
    select * from {{ new_rows(ref('int_raisable_records')) }}
),

read_ranges as (

    select
        source_format,
        topic,
        `partition`,
        min(offset) as first_offset,
        max(offset) as last_offset,
        max({{ raising_position() }}) as position
    from new_records
    group by source_format, topic, `partition`

)

select * from read_ranges
