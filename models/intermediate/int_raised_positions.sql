-- The positions of messages that a higher one of their partition stands before.
select
    source_format,
    topic,
    `partition`,
    offset,
    max(position) as position
from {{ ref('int_highest_positions') }}
where is_raised
group by source_format, topic, `partition`, offset
