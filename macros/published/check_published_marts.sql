{% macro check_published_marts() -%}
  {%- if execute -%}
    {%- set marts = [] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == 'model' and node.fqn[:-1] == ['cdc_marts', 'marts'] -%}
      {%- do marts.append(node.name) -%}
    {%- endfor -%}
    {%- do adapter.call_function(
        'cdc_marts.published.setting:check_published_marts',
        var('published_marts'),
        marts
    ) -%}
  {%- endif -%}
{%- endmacro %}
