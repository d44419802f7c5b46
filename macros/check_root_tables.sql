{#-
  Typed marts and `cdc-marts scaffold` find only tables directly under `vars`.
-#}
{% macro check_root_tables() -%}
  {%- if project_name != 'cdc_marts' -%}
    {%- set declared = adapter.config.vars.to_dict() -%}
    {%- if 'tables' in (declared.get('cdc_marts') or {}) -%}
      {%- do exceptions.raise_compiler_error(
          'The project ' ~ project_name ~ ' declares `tables` under `vars: cdc_marts` of'
          ~ ' dbt_project.yml: move it directly under `vars`, where your typed marts and'
          ~ ' `cdc-marts scaffold` read it too.'
      ) -%}
    {%- elif 'tables' not in declared
        and 'tables' not in adapter.config.cli_vars -%}
      {%- do exceptions.raise_compiler_error(
          'The project ' ~ project_name ~ ' does not declare its source tables: add `tables` to'
          ~ ' `vars` of dbt_project.yml, `tables: {}` for none.'
      ) -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}
