{#- The formats that have a trait, of the var `source_formats`. -#}
{% macro formats_that(trait) -%}
  {%- set found = [] -%}
  {%- for source_format, traits in var('source_formats').items() -%}
    {%- do found.append(source_format) if traits[trait] -%}
  {%- endfor -%}
  {%- do return(found) -%}
{%- endmacro %}
