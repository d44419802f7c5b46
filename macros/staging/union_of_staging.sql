{#-
  Query of the staging records of formats: a union and nothing else, so that its
  increments are those of its tables.  Formats of which nothing has landed are
  left out.

  source_formats: names; one of them is there in any case.
-#}
{% macro union_of_staging(source_formats) -%}
  {%- for source_format in formats_with_rows(source_formats) %}
select * from {{ ref('stg_' ~ source_format) }}
{{ "union all" if not loop.last }}
  {%- endfor %}
{%- endmacro %}
