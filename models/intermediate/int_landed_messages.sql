-- The coordinates of the landed messages of all formats, including the messages
-- that `cdc-marts maintain` removed from landing.
{% for source_format in var('source_formats') %}
select
    '{{ source_format }}' as source_format,
    topic,
    `partition`,
    offset,
    false as is_removed
from {{ ref('base_' ~ source_format) }}
union all
{% endfor %}
select
    source_format,
    topic,
    `partition`,
    offset,
    true as is_removed
from (
    {{ messages_in_blocks_sql(source('landing', 'removed_messages')) }}
)
