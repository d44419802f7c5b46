-- The coordinates of the landed messages of all formats, including the messages
-- that `cdc-marts maintain` removed from landing.
{% for source_format in var('source_formats') %}
select
    '{{ source_format }}' as source_format,
    messages.topic,
    messages.`partition`,
    messages.offset,
    false as is_removed,
    {{ waits_for_run('messages', ref('stg_' ~ source_format)) }} as is_waiting
from {{ ref('base_' ~ source_format) }} as messages
union all
{% endfor %}
select
    source_format,
    topic,
    `partition`,
    offset,
    true as is_removed,
    false as is_waiting
from (
    {{ messages_in_blocks_sql(source('landing', 'removed_messages')) }}
)
