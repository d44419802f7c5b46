{#-
  The formats in a column `source_format`; none where nothing runs.  A model may
  ask before it has read its inputs.
-#}
{% macro formats_in(relation) -%}
  {%- if not (
      execute
      and flags.WHICH in ('run', 'build')
      and model.resource_type == 'model'
  ) -%}
    {%- do return([]) -%}
  {%- endif -%}
  {%- set query = 'select distinct source_format from ' ~ relation -%}
  {%- set found = run_query(query) -%}
  {%- do return(found.columns[0].values() | list) -%}
{%- endmacro %}
