{#- VARIANT values are JSON text in fixtures. -#}
{% macro spark_session__safe_cast(field, type) -%}
  {%- if type | lower == 'variant' -%}
    parse_json({{ field }})
  {%- else -%}
    {{ dbt.spark__safe_cast(field, type) | trim }}
  {%- endif -%}
{%- endmacro %}


{#-
  As dbt's, with all rows in one VALUES: Spark takes longer to plan a union of one-row selects than
  to plan the tested model.
-#}
{% macro get_fixture_sql(rows, column_name_to_data_types) %}
  {%- set column_types = {} -%}
  {%- set nulls = {} -%}
  {%- set existing_relation = defer_relation if defer_relation and not load_relation(this) else this -%}
  {%- for column in adapter.get_columns_in_relation(existing_relation) -%}
    {%- do column_types.update({column.name | lower: column.data_type}) -%}
    {%- do nulls.update({column.name | lower: safe_cast('null', column.data_type) | trim}) -%}
  {%- else -%}
    {{ exceptions.raise_compiler_error(
        "The columns of a fixture are those of " ~ this ~ ", which does not exist: build it first (dbt run --empty is enough), or write the fixture as SQL."
    ) }}
  {%- endfor -%}
  select * from values
  {%- for row in rows or [{}] %}
    {%- set values = dict(nulls) -%}
    {%- do values.update(format_row(row, column_types)) %}
    ({{ values.values() | join(', ') }}){{ "," if not loop.last }}
  {%- endfor %}
    as fixture ({% for name in column_types %}{{ adapter.quote(name) }}{{ ", " if not loop.last }}{% endfor %})
  {%- if not rows %}
  where false
  {%- endif %}
{%- endmacro %}
