{#-
  A table of a query's rows for a model that uses them several times: Spark would compute them,
  and plan their computation, once for every use.  It is dropped when the model is written.
  Where the model is not written the query itself.
-#}
{% macro kept_rows(name, query) -%}
  {%- if is_being_written() -%}
    {%- do return(adapter.keep_rows(this.incorporate(path={'identifier': this.identifier ~ '__' ~ name}), query)) -%}
  {%- endif -%}
  {%- do return('(' ~ query ~ ')') -%}
{%- endmacro %}


{#-
  Whether a model is compiled to be written, so that it may ask the database something first: not
  in docs and compile, nor in unit tests, whose inputs are not there, nor where it reads increments
  and found none by now.
-#}
{% macro is_being_written() -%}
  {%- do return(
      execute
      and flags.WHICH in ('run', 'build')
      and model.resource_type == 'model'
      and not (is_incremental() and adapter.has_nothing_new(this))
  ) -%}
{%- endmacro %}
