{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The first and the last offset that each run read from each partition, and the
-- highest position in this range.  `int_raised_positions` continues from these
-- ranges.

with

new_records as (
    select * from {{ new_rows(ref('int_landing_ordered_records')) }}
),

read_ranges as (

    select
        source_format,
        topic,
        `partition`,
        min(offset) as first_offset,
        max(offset) as last_offset,
        max(message_position) as position
    from new_records
    group by source_format, topic, `partition`

)

select * from read_ranges
