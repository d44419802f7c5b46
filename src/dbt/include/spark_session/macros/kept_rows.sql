{#-
  A table of a query's rows for a model that uses them several times: Spark would compute them,
  and plan their computation, once for every use.  It is dropped when the model is written.
  Where nothing runs (docs, compile, unit tests) the query itself.
-#}
{% macro kept_rows(name, query) -%}
  {%- if execute and flags.WHICH in ('run', 'build') and model.resource_type == 'model' -%}
    {%- do return(adapter.keep_rows(this.incorporate(path={'identifier': this.identifier ~ '__' ~ name}), query)) -%}
  {%- endif -%}
  {%- do return('(' ~ query ~ ')') -%}
{%- endmacro %}
