{#-
  The var `source_formats`.  A model of a project that has this one as a package
  sees the vars of its own project alone, so it takes the config of a model here:
  none before all models are parsed.  `check_declared_tables` comes after that.
-#}
{% macro source_formats() -%}
  {%- set own = var('source_formats', none) -%}
  {%- if own is none and execute -%}
    {%- set model_here = graph.nodes['model.cdc_marts.source_tables'] -%}
    {%- do return(model_here.config.source_formats) -%}
  {%- endif -%}
  {%- do return(own) -%}
{%- endmacro %}
