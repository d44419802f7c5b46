{#-
  Whether rows must be completed from earlier events: asked before the fold is
  written, so that a run without such rows does not read the history.
-#}
{% macro has_partial_events() -%}
  {%- if
      not execute
      or ref('change_events').is_cte
      or flags.WHICH not in ('run', 'build')
  -%}
    {%- do return(true) -%}
  {%- endif -%}
  {%- set question -%}
    select 1 from {{ new_rows(ref('int_row_effects')) }} where is_partial
    {%- if is_incremental() %}
    union all
    select 1 from {{ this }} where has_partial_events
    {%- endif %}
    limit 1
  {%- endset -%}
  {%- do return(run_query(question).rows | length > 0) -%}
{%- endmacro %}
