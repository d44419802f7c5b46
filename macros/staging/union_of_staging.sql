{#-
  Query of the staging records of formats: a union and nothing else, so that its
  increments are those of its tables.  Formats of which nothing has landed are
  left out, as each costs every query its share of planning.

  source_formats: names; one of them is there in any case.
-#}
{% macro union_of_staging(source_formats) -%}
  {%- set with_rows = [] -%}
  {%- for source_format in source_formats -%}
    {%- set staging = ref('stg_' ~ source_format) -%}
    {%- do with_rows.append(staging) if has_rows(staging) -%}
  {%- endfor -%}
  {%- for staging in with_rows or [ref('stg_' ~ source_formats[0])] %}
select * from {{ staging }}
{{ "union all" if not loop.last }}
  {%- endfor %}
{%- endmacro %}
