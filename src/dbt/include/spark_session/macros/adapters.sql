{% macro spark_session__escape_single_quotes(expression) -%}
{{ expression | replace("\\", "\\\\") | replace("'", "\\'") }}
{%- endmacro %}


{% macro spark_session__get_columns_in_relation(relation) -%}
  {% do return(adapter.get_columns_in_relation(relation)) %}
{%- endmacro %}


{#-
  Rows of `relation` that this model has not read yet; all of them when it is built anew.
  Where the model also reads what was made from `relation`, and that is behind it, they
  end where that ends.
  A run with --empty or --sample reads what dbt gives it, and takes no note of it.

  `read_by`: a table made from `relation` whose new rows this model reads too; then
  those rows of `relation` that are behind them, however much it holds by now.
-#}
{% macro new_rows(relation, read_by=none) -%}
  {%- set is_whole = relation.limit is none and relation.event_time_filter is none -%}
  {%- if execute and is_whole and not relation.is_cte -%}
    {%- set inputs = adapter.incremental_inputs(model, graph) -%}
    {{ adapter.new_rows(relation, this, is_incremental(), inputs, read_by) }}
  {%- else -%}
    {{ relation }}
  {%- endif -%}
{%- endmacro %}


{#- Whether a relation holds rows, by its metadata alone; a mocked one may. -#}
{% macro has_rows(relation) -%}
  {%- do return(relation.is_cte or adapter.has_rows(relation)) -%}
{%- endmacro %}


{#- As dbt-spark's, and with what a model found out when it compiled (`keep_property`). -#}
{% macro spark_session__tblproperties_clause() -%}
  {%- set properties = dict(config.get('tblproperties') or {}, **adapter.kept_properties(this)) -%}
  {%- if properties %}
    tblproperties (
      {%- for name, value in properties.items() %}
      {{ adapter.string_literal(name) }} = {{ adapter.string_literal(value) }}{{ "," if not loop.last }}
      {%- endfor %}
    )
  {%- endif %}
{%- endmacro %}
