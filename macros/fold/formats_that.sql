{% macro formats_that(trait) -%}
  {%- set found = [] -%}
  {%- for source_format, traits in var('source_formats').items() -%}
    {%- do found.append(source_format) if traits[trait] | default(false) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{%- endmacro %}
