{#-
  What this run of the model reads and commits (`IncrementalRead`): the same object while it
  compiles and while it is written.  A unit test of a model without `this` has none.
-#}
{% macro incremental_read() -%}
  {%- if this is none -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- do return(adapter.incremental_read(this, model, graph, is_incremental())) -%}
{%- endmacro %}
