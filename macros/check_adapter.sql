{#-
  dbt calls `generate_schema_name` for the first node, before it renders any
  SQL.
-#}
{% macro check_adapter() -%}
  {%- if target.type != 'spark_session' -%}
    {{ exceptions.raise_compiler_error(
      "cdc_marts needs the dbt adapter spark_session, but the target '" ~ target.name ~ "' is of"
      ~ " type " ~ target.type ~ ": set `type: spark_session` for this target in "
      ~ flags.PROFILES_DIR ~ "/profiles.yml."
    ) }}
  {%- endif -%}
{%- endmacro %}
