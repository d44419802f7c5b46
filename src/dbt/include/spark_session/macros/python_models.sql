{#- A Python model becomes a temporary view; dbt writes it like the query of a SQL model. -#}
{% macro create_python_view(compiled_code, view) -%}
{{ compiled_code }}
# --- dbt ---
{%- if config.get('reads_new_rows', false) %}
{%- set replaces = config.get('replaces') if var('requeue', false) else none %}
_replaces = {{ replaces }}
_inputs = {{ adapter.incremental_inputs(model, graph) }}
_dbt = dbtObj(lambda name: load_new_rows(name, "{{ this }}", {{ is_incremental() }}, _inputs, _replaces))
_dbt.replaced_rows = _replaces and _replaces["rows"]
{%- else %}
_dbt = dbtObj(load_table)
{%- endif %}
create_view(model(_dbt, spark), "{{ view.identifier }}")
{% endmacro %}
