-- The landed messages of all formats, by their coordinates.
{% for source_format in var('source_formats') %}
select
    '{{ source_format }}' as source_format,
    topic,
    `partition`,
    offset
from {{ ref('base_' ~ source_format) }}
{{ "union all" if not loop.last }}
{% endfor %}
