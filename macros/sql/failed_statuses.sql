{#- The statuses of failed nodes. Python takes them from here too. -#}
{% macro failed_statuses() -%}
'error', 'fail', 'runtime error', 'partial success'
{%- endmacro %}
