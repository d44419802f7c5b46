{% macro landing_relation(name) -%}
  {%- do return(source('landing', name).incorporate(limit=none)) -%}
{%- endmacro %}
