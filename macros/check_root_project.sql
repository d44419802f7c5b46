{% macro check_root_project() -%}
  {%- if execute and project_name != 'cdc_marts' -%}
    {%- do cdc_marts.check_root_tables() -%}
    {%- for node in graph.nodes.values() if node.package_name == 'cdc_marts' -%}
      {%- for read in node.depends_on.nodes
          if read.split('.')[1] != 'cdc_marts' -%}
        {%- do exceptions.raise_compiler_error(
            node.name ~ ' of cdc_marts would read ' ~ read ~ ', which has the name of a model of'
            ~ ' cdc_marts: add `require_ref_searches_node_package_before_root: true` to `flags`'
            ~ ' of dbt_project.yml.'
        ) -%}
      {%- endfor -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}
