{#-
  Whether a model that is being written may ask the database something first;
  not in unit tests, whose inputs are not there, nor where nothing runs.
-#}
{% macro may_ask() -%}
  {%- do return(
      execute
      and flags.WHICH in ('run', 'build')
      and model.resource_type == 'model'
  ) -%}
{%- endmacro %}
