{#-
  The union of the staging records of formats.  The query is only a union, so
  its new rows are the new rows of its tables.  Formats without landed messages
  are left out.

  source_formats: names of formats.  The union always has at least one of them.
-#}
{% macro union_of_staging(source_formats) -%}
  {%- for source_format in formats_with_rows(source_formats) %}
select
    *,
    sequence.position as message_position
from {{ ref('stg_' ~ source_format) }}
{{ "union all" if not loop.last }}
  {%- endfor %}
{%- endmacro %}
