{#-
  A landing table, to be created or written.  With `--empty`, dbt's `source`
  gives a query without its rows instead, which only models may read.
-#}
{% macro landing_relation(name) -%}
  {%- do return(source('landing', name).incorporate(limit=none)) -%}
{%- endmacro %}
