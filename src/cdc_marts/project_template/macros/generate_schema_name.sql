{#- Schemas of this project's own models: named exactly as configured, as those of cdc_marts are. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
  {{ cdc_marts.generate_schema_name(custom_schema_name, node) }}
{%- endmacro %}
