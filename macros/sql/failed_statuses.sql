{#- Python takes the statuses from here too. -#}
{% macro failed_statuses() -%}
'error', 'fail', 'runtime error', 'partial success'
{%- endmacro %}
