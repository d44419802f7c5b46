{% macro spark_session__escape_single_quotes(expression) -%}
{{ expression | replace("\\", "\\\\") | replace("'", "\\'") }}
{%- endmacro %}


{% macro spark_session__get_columns_in_relation(relation) -%}
  {% do return(adapter.get_columns_in_relation(relation)) %}
{%- endmacro %}


{#- Rows of `relation` that this model has not read yet; all of them when it is built anew. -#}
{% macro new_rows(relation) -%}
  {%- if execute and not relation.is_cte -%}
    {{ adapter.new_rows(relation, this, is_incremental()) }}
  {%- else -%}
    {{ relation }}
  {%- endif -%}
{%- endmacro %}


{#- A fixture of a unit test holds VARIANT values as JSON text. -#}
{% macro spark_session__safe_cast(field, type) -%}
  {%- if type | lower == 'variant' -%}
    parse_json({{ field }})
  {%- else -%}
    {{ dbt.spark__safe_cast(field, type) | trim }}
  {%- endif -%}
{%- endmacro %}
