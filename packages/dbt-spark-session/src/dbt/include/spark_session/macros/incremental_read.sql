{#-
  Return what this run of the model reads and commits (`IncrementalRead`): the same object while
  the model compiles and while it is written. None in a unit test of a model without `this`.
-#}
{% macro incremental_read() -%}
  {%- if this is none -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- do return(adapter.incremental_read(this, model, graph, is_incremental())) -%}
{%- endmacro %}
