{% macro spark_session__escape_single_quotes(expression) -%}
{{ expression | replace("\\", "\\\\") | replace("'", "\\'") }}
{%- endmacro %}


{% macro spark_session__get_columns_in_relation(relation) -%}
  {% do return(adapter.get_columns_in_relation(relation)) %}
{%- endmacro %}


{#-
  Rows of `relation` that this model has not read yet; all of them when it is built anew.
  A run with --empty or --sample reads what dbt gives it, and takes no note of it.
-#}
{% macro new_rows(relation) -%}
  {%- set is_whole = relation.limit is none and relation.event_time_filter is none -%}
  {%- if execute and is_whole and not relation.is_cte -%}
    {{ adapter.new_rows(relation, this, is_incremental()) }}
  {%- else -%}
    {{ relation }}
  {%- endif -%}
{%- endmacro %}
