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
    offset_block * 64 + bit_index as offset,
    true as is_removed
from {{ source('landing', 'removed_messages') }}
    lateral view explode(sequence(0, 63)) as bit_index
where bit_get(offset_bits, bit_index) = 1
