-- Every format's staging records in one shape.  A union and nothing else, so
-- that its increments are those of its tables.
{% for source_format in var('source_formats') %}
select * from {{ ref('stg_' ~ source_format) }}
{{ "union all" if not loop.last }}
{% endfor %}
