{#- A Python model becomes a temporary view, which dbt writes like the query of a SQL model. -#}
{% macro create_python_view(compiled_code, view, read) -%}
{{ compiled_code }}
# --- dbt ---
{%- set replaces = config.get('replaces') or none %}
_replaces = {{ replaces }}
{%- if flags.EMPTY %}
{#- With --empty, dbt gives a query without rows for a `source`, but the name of a `ref`. #}
_dbt = dbtObj(load_given)
_dbt.new_rows = _dbt.rows_so_far = no_rows_of
{%- else %}
_dbt = dbtObj(load_table)
_dbt.new_rows = new_rows_of("{{ read.table }}", _replaces)
_dbt.rows_so_far = rows_so_far_of("{{ read.table }}")
{%- endif %}
_dbt.replaceable_rows = _replaces and _replaces["rows"]
create_view(model(_dbt, spark), "{{ view.identifier }}")
{% endmacro %}
