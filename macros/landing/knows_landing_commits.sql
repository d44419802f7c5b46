{% macro knows_landing_commits(landing_table) -%}
  {%- do return(
      execute
      and load_relation(landing_table) is not none
      and adapter.has_row_lineage(landing_table)
  ) -%}
{%- endmacro %}
