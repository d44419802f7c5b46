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
-#}
{% macro new_rows(relation) -%}
  {%- if reads_increments(relation) -%}
    {%- set inputs = adapter.incremental_inputs(model, graph) -%}
    {{ adapter.new_rows(relation, this, is_incremental(), inputs) }}
  {%- else -%}
    {{ relation }}
  {%- endif -%}
{%- endmacro %}


{#-
  Rows of `relation` that this model has read by the end of this run: those of earlier runs and
  the new ones.  What comes beyond them is new in a later run.
-#}
{% macro rows_so_far(relation) -%}
  {%- if reads_increments(relation) -%}
    {%- set inputs = adapter.incremental_inputs(model, graph) -%}
    {{ adapter.rows_so_far(relation, this, is_incremental(), inputs) }}
  {%- else -%}
    {{ relation }}
  {%- endif -%}
{%- endmacro %}


{#- Whether the model reads a relation by increments: not where dbt gives it other rows. -#}
{% macro reads_increments(relation) -%}
  {%- do return(
      execute
      and not relation.is_cte
      and relation.limit is none
      and relation.event_time_filter is none
  ) -%}
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
