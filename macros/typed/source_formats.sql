{#-
  The var `source_formats`.  In a project that has this one as a package, a
  model sees only the vars of its own project.  So the macro reads the config of
  a model of this package.  The config is not known before all models are
  parsed; until then, the macro returns nothing.  `check_declared_tables` runs
  after that.
-#}
{% macro source_formats() -%}
  {%- set own = var('source_formats', none) -%}
  {%- if own is none and execute -%}
    {%- set model_here = graph.nodes['model.cdc_marts.source_tables'] -%}
    {%- do return(model_here.config.source_formats) -%}
  {%- endif -%}
  {%- do return(own) -%}
{%- endmacro %}
