{% macro spark_session__escape_single_quotes(expression) -%}
{{ expression | replace("\\", "\\\\") | replace("'", "\\'") }}
{%- endmacro %}


{% macro spark_session__get_columns_in_relation(relation) -%}
  {% do return(adapter.get_columns_in_relation(relation)) %}
{%- endmacro %}


{#-
  The rows of `relation` that this model has not read yet; all rows if it is rebuilt.
  If the model also reads tables that were made from `relation`, it reads `relation` only as far as
  they have read it.
  A run with --empty or --sample reads the rows that dbt gives it, and commits no watermark.
-#}
{% macro new_rows(relation) -%}
  {%- if reads_increments(relation) -%}
    {{ incremental_read().new_rows(relation.render()) }}
  {%- else -%}
    {{ new_rows_of_fixture(relation) if relation.is_cte else relation }}
  {%- endif -%}
{%- endmacro %}


{#-
  In a unit test, all rows of an input are new, unless the var `unit_test_new_rows` has a condition
  for this input: {model, or source__table: condition of its new rows}.
-#}
{% macro new_rows_of_fixture(fixture) -%}
  {%- set conditions = var('unit_test_new_rows', {}) -%}
  {%- set inputs = [] -%}
  {%- for unique_id in model.depends_on.nodes -%}
    {%- do inputs.append(unique_id.split('.', 2) | last) -%}
  {%- endfor -%}
  {%- for name in conditions if name not in inputs -%}
    {{ exceptions.raise_compiler_error(
        "`unit_test_new_rows` has a condition for " ~ name ~ ", which the unit test is not given. It is given: " ~ inputs | join(", ") ~ "."
    ) }}
  {%- endfor -%}
  {%- set name = fixture.identifier | replace('__dbt__cte__', '') -%}
  {%- set condition = conditions[name] -%}
  {%- if condition -%}
    (select * from {{ fixture }} where {{ condition }})
  {%- else -%}
    {{ fixture }}
  {%- endif -%}
{%- endmacro %}


{#-
  The rows of `relation` that this model has read by the end of this run: the rows of earlier runs
  and the new ones. Further rows are new in a later run.
-#}
{% macro rows_so_far(relation) -%}
  {%- if reads_increments(relation) -%}
    {{ incremental_read().rows_so_far(relation.render()) }}
  {%- else -%}
    {{ relation }}
  {%- endif -%}
{%- endmacro %}


{#- Whether the model reads a relation by increments: not if dbt gives it other rows. -#}
{% macro reads_increments(relation) -%}
  {%- if not execute or relation.is_cte -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set is_given = relation.limit is not none or relation.event_time_filter is not none -%}
  {%- if is_given -%}
    {%- do incremental_read().take_given_rows() -%}
  {%- endif -%}
  {%- do return(not is_given) -%}
{%- endmacro %}


{#- Whether a relation has rows, by its metadata alone. True for a fixture. -#}
{% macro has_rows(relation) -%}
  {%- do return(relation.is_cte or adapter.has_rows(relation)) -%}
{%- endmacro %}


{#- As dbt-spark's, with the properties that the model's run sets (`keep_property`). -#}
{% macro spark_session__tblproperties_clause() -%}
  {%- set properties = dict(config.get('tblproperties') or {}, **incremental_read().table_properties) -%}
  {%- if properties %}
    tblproperties (
      {%- for name, value in properties.items() %}
      {{ adapter.string_literal(name) }} = {{ adapter.string_literal(value) }}{{ "," if not loop.last }}
      {%- endfor %}
    )
  {%- endif %}
{%- endmacro %}


{#- As dbt-spark's, but the model's run may set other partitions (`partition_by`). -#}
{% macro spark_session__partition_cols(label, required=false) %}
  {%- set partitions = incremental_read().partitions -%}
  {%- if partitions is none -%}
    {{- spark__partition_cols(label, required) -}}
  {%- elif partitions -%}
    {{ label }} ({{ partitions | join(', ') }})
  {%- endif -%}
{% endmacro %}
