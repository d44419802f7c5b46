{#- Schemas are named exactly as configured, in every target: each target has a catalog of its own. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
  {{ (custom_schema_name or target.schema) | trim }}
{%- endmacro %}
