{% macro landed_messages(source_format) -%}
{%- set landing_table = source('landing', source_format) -%}
{%- if target.name == 'demo' -%}
-- after {{ ref('sample_' ~ source_format) }}, which lands itself
{% endif -%}
select
    topic,
    `partition`,
    offset,
    timestamp,
    cast(key as binary) as key,
    cast(value as binary) as value,
    landed_at,
    {{ landing_commit(landing_table) }} as landing_commit
from {{ landing_table }}
{%- endmacro %}
