{#- Schemas are named exactly as configured, in every target. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
  {%- do cdc_marts.check_adapter() -%}
  {{ (custom_schema_name or target.schema) | trim }}
{%- endmacro %}
