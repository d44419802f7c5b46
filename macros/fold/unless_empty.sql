{#-
  Rows, or what Spark's optimizer knows to be none where no row meets the
  condition: asked before, so that the plan of a run has no part in vain.
-#}
{% macro unless_empty(rows, condition='true') -%}
  {%- if execute and flags.WHICH in ('run', 'build')
      and not ref('int_records').is_cte -%}
    {%- set found = run_query(
        'select 1 from ' ~ rows ~ ' where ' ~ condition ~ ' limit 1'
    ) -%}
    {%- if found.rows | length == 0 -%}
      {%- do return('(select * from ' ~ rows ~ ' where false)') -%}
    {%- endif -%}
  {%- endif -%}
  {%- do return(rows) -%}
{%- endmacro %}
