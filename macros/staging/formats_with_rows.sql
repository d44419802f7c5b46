{#-
  Those of some formats of which something has landed, or one of them where
  nothing has: of the others each costs a query its share of planning.
-#}
{% macro formats_with_rows(source_formats) -%}
  {%- set with_rows = [] -%}
  {%- for source_format in source_formats -%}
    {%- set staging = ref('stg_' ~ source_format) -%}
    {%- do with_rows.append(source_format) if has_rows(staging) -%}
  {%- endfor -%}
  {%- do return(with_rows or source_formats[:1]) -%}
{%- endmacro %}
