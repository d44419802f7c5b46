{% macro check_declared_tables() -%}
  {%- do adapter.call_function(
      'cdc_marts.typed.declaration:check_declarations',
      var('tables')
  ) -%}
{%- endmacro %}
