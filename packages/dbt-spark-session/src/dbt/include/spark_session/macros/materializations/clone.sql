{#- dbt-spark clones by a statement of Delta, which no other format has. -#}
{% macro spark_session__can_clone_table() %}
  {%- if config.get('file_format') != 'delta' -%}
    {%- do exceptions.raise_compiler_error(
        "`dbt clone` copies only tables of Delta, and " ~ this ~ " is not one: build it on this target with `dbt run`, or read the tables of the other target with `--defer`."
    ) -%}
  {%- endif -%}
  {%- do return(true) -%}
{% endmacro %}
