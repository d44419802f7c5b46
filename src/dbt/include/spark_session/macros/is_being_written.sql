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
