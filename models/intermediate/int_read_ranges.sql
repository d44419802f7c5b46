{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- Of formats ordered by landing, what each run read of each partition: from
-- which offset to which, and the highest position in between.

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
        max(sequence.position) as position
    from new_records
    group by source_format, topic, `partition`

)

select * from read_ranges
