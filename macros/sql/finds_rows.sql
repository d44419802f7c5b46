{#-
  Whether a query has rows: asked before a model is written, so that its plan
  has no part in vain.  Where nothing runs (docs, compile, unit tests) the part
  is there.
-#}
{% macro finds_rows(query) -%}
  {%- if not is_being_written() -%}
    {%- do return(true) -%}
  {%- endif -%}
  {%- set found = run_query('select 1 from (' ~ query ~ ') limit 1') -%}
  {%- do return(found.rows | length > 0) -%}
{%- endmacro %}
