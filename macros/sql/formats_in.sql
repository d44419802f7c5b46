{#- The formats in a column `source_format`; none where nothing may be asked. -#}
{% macro formats_in(relation) -%}
  {%- if not is_being_written() -%}
    {%- do return([]) -%}
  {%- endif -%}
  {%- set found = run_query('select distinct source_format from ' ~ relation) -%}
  {%- do return(found.columns[0].values() | list) -%}
{%- endmacro %}
