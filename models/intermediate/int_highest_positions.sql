{{
    config(
        materialized='incremental',
        incremental_strategy='append',
        partition_by=['is_raised'],
    )
}}

-- Where formats are ordered by landing, an event has the highest position of
-- its partition so far.  That is its own nearly always: the exceptions are here
-- (`is_raised`), and a mark behind what each run read of each partition, where
-- the next run goes on.  Positions only rise: where a message comes twice,
-- the higher one counts.  When one lands in front of such a mark, its partition
-- is looked at again from the mark before it.

{%- set partition_key = ['source_format', 'topic', '`partition`'] %}
{%- set message_key = partition_key + ['offset'] %}
{%- set new_messages -%}
(
    select
        source_format,
        topic,
        `partition`,
        offset,
        sequence.position,
        record_type
    from {{ new_rows(ref('int_landing_ordered_records')) }}
    -- all rows of a message share its position
    where row_index = 0
)
{%- endset %}

{%- set has_late_messages = false %}
{%- if is_incremental() %}
{%- set marks -%}
(
    select
        source_format,
        topic,
        `partition`,
        offset,
        max(position) as position
    from {{ this }}
    where not is_raised
    group by source_format, topic, `partition`, offset
)
{%- endset %}
{%- set last_marks -%}
(
    select
        source_format,
        topic,
        `partition`,
        max(offset) as offset,
        max(position) as position
    from {{ marks }}
    group by source_format, topic, `partition`
)
{%- endset %}
{%- set late_starts_query -%}
select
    late.source_format,
    late.topic,
    late.`partition`,
    coalesce(max(marks.offset), -1) as offset,
    max(marks.position) as position
from (
    select
        new_messages.source_format,
        new_messages.topic,
        new_messages.`partition`,
        min(new_messages.offset) as first_offset
    from {{ new_messages }} as new_messages
    inner join {{ last_marks }} as last_marks
        on {{ matches('new_messages', 'last_marks', partition_key) }}
    where new_messages.offset <= last_marks.offset
    group by
        new_messages.source_format,
        new_messages.topic,
        new_messages.`partition`
) as late
left join {{ marks }} as marks
    on
        {{ matches('late', 'marks', partition_key) }}
        and late.first_offset > marks.offset
group by late.source_format, late.topic, late.`partition`
{%- endset %}
{%- set late_starts = kept_rows('late_starts', late_starts_query) %}
{%- set has_late_messages = finds_rows('select * from ' ~ late_starts) %}
{%- endif %}

with

new_messages as (
    select * from {{ new_messages }}
),

{% if is_incremental() -%}
marks as (
    select * from {{ marks }}
),

last_marks as (
    select * from {{ last_marks }}
),
{%- endif %}

{% if has_late_messages -%}
late_starts as (
    select * from {{ late_starts }}
),
{%- endif %}

messages as (

    {% if is_incremental() -%}
    select
        new_messages.*,
        last_marks.position as position_before
    from new_messages
    left join last_marks
        on {{ matches('new_messages', 'last_marks', partition_key) }}
    {% if has_late_messages -%}
    left anti join late_starts
        on {{ matches('new_messages', 'late_starts', partition_key) }}

    union all

    select
        records.source_format,
        records.topic,
        records.`partition`,
        records.offset,
        records.sequence.position,
        records.record_type,
        late_starts.position as position_before
    from {{ ref('int_landing_ordered_records') }} as records
    inner join late_starts
        on
            {{ matches('records', 'late_starts', partition_key) }}
            and records.offset > late_starts.offset
    where
        records.row_index = 0
        and {{ is_in_ranges_of(
            late_starts,
            topic='records.topic',
            partition='records.`partition`',
            offset='records.offset',
            last_offset=none
        ) }}
    {%- endif %}
    {%- else -%}
    select
        *,
        cast(null as decimal(38, 0)) as position_before
    from new_messages
    {%- endif %}

),

followed_messages as (

    select
        *,
        max(greatest(position_before, position)) over (
            partition by source_format, topic, `partition`
            order by offset
            rows between unbounded preceding and current row
        ) as highest_position,
        lead(offset) over (
            partition by source_format, topic, `partition`
            order by offset
        ) is null as is_last
    from messages

),

highest_positions as (

    select
        messages.source_format,
        messages.topic,
        messages.`partition`,
        messages.offset,
        messages.highest_position as position,
        kinds.is_raised
    from followed_messages as messages
    {% if has_late_messages -%}
    left join marks  -- noqa: ST11
        on {{ matches('messages', 'marks', message_key) }}
    {%- endif %}
        lateral view explode(
            array_compact(array(
                if(
                    messages.record_type in ('change', 'ddl', 'transaction')
                    and not messages.position <=> messages.highest_position,
                    true,
                    null
                ),
                if(
                    messages.is_last
                    {%- if has_late_messages %} or marks.offset is not null
                    {%- endif %},
                    false,
                    null
                )
            ))
        ) kinds as is_raised

){% if has_late_messages %},

known_positions as (select * from {{ this }}),

risen_positions as (

    select highest_positions.*
    from highest_positions
    left anti join known_positions
        on
            {{ matches(
                'highest_positions', 'known_positions', message_key
            ) }}
            and highest_positions.is_raised = known_positions.is_raised
            and highest_positions.position <=> known_positions.position

)

select * from risen_positions
{%- else %}

select * from highest_positions
{%- endif %}
