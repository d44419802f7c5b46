{% macro generate_schema_name(custom_schema_name, node) -%}
  {%- do cdc_marts.check_adapter() -%}
  {%- if project_name == 'cdc_marts' -%}
    {{ (custom_schema_name or target.schema) | trim }}
  {%- else -%}
    {%- set root = context.get(project_name, {}) -%}
    {%- set of_root = root.get('generate_schema_name') -%}
    {%- set schema_name = of_root or dbt.generate_schema_name -%}
    {{ schema_name(custom_schema_name, node) | trim }}
  {%- endif -%}
{%- endmacro %}
