-- The coordinates of the landed messages of all formats, including the messages
-- that `cdc-marts maintain` removed from landing.
{% set formats_in_staging = formats_with_rows(var('source_formats') | list) %}
{% for source_format in var('source_formats') %}
select
    '{{ source_format }}' as source_format,
    messages.topic,
    messages.`partition`,
    messages.offset,
    false as is_removed,
    {#- Without rows in staging, no message of the format was read. #}
    {% if source_format in formats_in_staging -%}
    {{ waits_for_run('messages', ref('stg_' ~ source_format)) }}
    {%- else -%}
    messages.landing_commit is not null
    {%- endif %} as is_waiting
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
