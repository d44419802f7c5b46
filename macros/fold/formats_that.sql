{#-
  The formats of the var `source_formats` that have a trait, or that lack it.
-#}
{% macro formats_that(trait, have_it=true) -%}
  {%- set found = [] -%}
  {%- for source_format, traits in var('source_formats').items() -%}
    {%- set has_it = traits[trait] | default(false) -%}
    {%- do found.append(source_format) if has_it == have_it -%}
  {%- endfor -%}
  {%- do return(found) -%}
{%- endmacro %}
