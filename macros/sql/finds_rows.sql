{#-
  Whether a query has rows: asked before a model is written, so that its plan
  has no part in vain.  Where nothing runs (docs, compile, unit tests) the part
  is there.
-#}
{% macro finds_rows(query) -%}
  {%- if not execute or flags.WHICH not in ('run', 'build') or ref('int_records').is_cte -%}
    {%- do return(true) -%}
  {%- endif -%}
  {%- do return(run_query('select 1 from (' ~ query ~ ') limit 1').rows | length > 0) -%}
{%- endmacro %}
