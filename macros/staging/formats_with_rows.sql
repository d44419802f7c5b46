{#- Each format makes the planning of every query longer. -#}
{% macro formats_with_rows(source_formats) -%}
  {%- set with_rows = [] -%}
  {%- for source_format in source_formats -%}
    {%- set staging = ref('stg_' ~ source_format) -%}
    {%- do with_rows.append(source_format) if has_rows(staging) -%}
  {%- endfor -%}
  {%- do return(with_rows or source_formats[:1]) -%}
{%- endmacro %}
