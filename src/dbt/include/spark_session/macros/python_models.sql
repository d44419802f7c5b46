{#- A Python model becomes a temporary view; dbt writes it like the query of a SQL model. -#}
{% macro create_python_view(compiled_code, view) -%}
{{ compiled_code }}
# --- dbt ---
{%- if config.get('reads_new_rows', false) %}
_dbt = dbtObj(lambda name: load_new_rows(name, "{{ this }}", {{ is_incremental() }}))
{%- else %}
_dbt = dbtObj(load_table)
{%- endif %}
create_view(model(_dbt, spark), "{{ view.identifier }}")
{% endmacro %}
