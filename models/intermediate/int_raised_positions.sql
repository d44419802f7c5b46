{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- In formats that are ordered by landing, an event takes the highest position
-- that its partition has had so far.  Nearly always this is its own position.
-- This model lists the exceptions.  If a message lands late, with a lower
-- offset than messages that a run has read, the model looks at these messages
-- again.  One more message can only raise their positions, never lower them.

with

new_messages as (

    -- All rows of a message share one position, but an erased row has none.
    select *
    from {{ new_rows(ref('int_landing_ordered_records')) }}
    where record_type <> 'tombstone'

),

new_ranges as (select * from {{ new_rows(ref('int_read_ranges')) }}),

first_new_offsets as (

    select
        source_format,
        topic,
        `partition`,
        min(first_offset) as offset,
        count(*) as range_count
    from new_ranges
    group by source_format, topic, `partition`

),

-- Each run adds a range, so only a count and a maximum are taken of all ranges.
-- A partition is behind if an earlier range ends at its first new offset or
-- after it.
starts as (

    select /*+ broadcast(first_new) */
        first_new.source_format,
        first_new.topic,
        first_new.`partition`,
        first_new.offset,
        max(if(
            read_ranges.last_offset < first_new.offset,
            read_ranges.position,
            null
        )) as position_before,
        count_if(read_ranges.last_offset >= first_new.offset)
        > first_new.range_count as is_behind
    from {{ rows_so_far(ref('int_read_ranges')) }} as read_ranges
    inner join first_new_offsets as first_new
        on {{ matches('read_ranges', 'first_new', columns_of_partition()) }}
    group by
        first_new.source_format,
        first_new.topic,
        first_new.`partition`,
        first_new.offset,
        first_new.range_count

),

starts_behind as (

    select * from starts
    where is_behind

),

-- A run may read the same offsets as an earlier run, after `requeue` for
-- example.  So `except all` removes each new range only once.
earlier_ranges as (

    select /*+ broadcast(starts_behind) */ read_ranges.*
    from {{ rows_so_far(ref('int_read_ranges')) }} as read_ranges
    left semi join starts_behind
        on {{ matches('read_ranges', 'starts_behind', columns_of_partition()) }}

    except all

    select * from new_ranges

),

-- Overlapping ranges of several runs become one stretch.
followed_ranges as (

    select
        *,
        coalesce(first_offset > max(last_offset) over (
            partition by source_format, topic, `partition`
            order by first_offset
            rows between unbounded preceding and 1 preceding
        ), true) as is_apart
    from earlier_ranges

),

numbered_ranges as (

    select
        *,
        count_if(is_apart) over (
            partition by source_format, topic, `partition`
            order by first_offset
            rows between unbounded preceding and current row
        ) as stretch
    from followed_ranges

),

stretches as (

    select
        source_format,
        topic,
        `partition`,
        min(first_offset) as first_offset,
        max(last_offset) as last_offset,
        max(position) as position
    from numbered_ranges
    group by source_format, topic, `partition`, stretch

),

-- Messages are looked at again from the start of the first stretch that ends at
-- a new offset or after it.
starts_of_stretches as (

    select
        starts.source_format,
        starts.topic,
        starts.`partition`,
        least(starts.offset, min(stretches.first_offset)) as offset
    from starts_behind as starts
    inner join stretches
        on
            {{ matches('starts', 'stretches', columns_of_partition()) }}
            and starts.offset <= stretches.last_offset
    group by
        starts.source_format,
        starts.topic,
        starts.`partition`,
        starts.offset

),

placed_starts as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        is_behind,
        position_before
    from starts
    where not is_behind

    union all

    select
        starts.source_format,
        starts.topic,
        starts.`partition`,
        starts.offset,
        true as is_behind,
        max(stretches.position) as position_before
    from starts_of_stretches as starts
    left join stretches
        on
            {{ matches('starts', 'stretches', columns_of_partition()) }}
            and starts.offset > stretches.last_offset
    group by
        starts.source_format,
        starts.topic,
        starts.`partition`,
        starts.offset

),

known_messages as (

    select *
    from {{ rows_so_far(ref('int_landing_ordered_records')) }}
    where record_type <> 'tombstone'

),

messages as (

    select /*+ broadcast(starts) */
        new_messages.*,
        starts.position_before,
        true as is_new
    from new_messages
    inner join placed_starts as starts
        on {{ matches('new_messages', 'starts', columns_of_partition()) }}

    union all

    select /*+ broadcast(starts) */
        known_messages.*,
        starts.position_before,
        false as is_new
    from known_messages
    inner join placed_starts as starts
        on
            starts.is_behind
            and {{ matches(
                'known_messages', 'starts', columns_of_partition()
            ) }}
            and known_messages.offset >= starts.offset
    left anti join new_messages
        on {{ matches('known_messages', 'new_messages', columns_of_message()) }}

),

followed_messages as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        record_type,
        is_new,
        message_position as position,
        max(greatest(position_before, message_position)) over (
            partition by source_format, topic, `partition`
            order by offset
            rows between unbounded preceding and current row
        ) as highest_position
    from messages

),

raised_positions as (

    select distinct
        source_format,
        topic,
        `partition`,
        offset,
        highest_position as position,
        not is_new as is_revision
    from followed_messages
    where
        record_type in ('change', 'ddl', 'transaction')
        and not position <=> highest_position

){% if is_incremental() %},

earlier_positions as (select * from {{ this }}),

risen_positions as (

    select raised_positions.*
    from raised_positions
    left anti join earlier_positions
        on
            {{ matches(
                'raised_positions', 'earlier_positions', columns_of_message()
            ) }}
            and raised_positions.position = earlier_positions.position

)

select * from risen_positions
{%- else %}

select * from raised_positions
{%- endif %}
