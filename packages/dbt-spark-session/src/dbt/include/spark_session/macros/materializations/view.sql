{#-
  As dbt-spark's, but an existing view is not created again if neither its query nor the columns
  of its inputs have changed, and nobody has replaced it. This holds with `--full-refresh` too.
-#}
{% materialization view, adapter='spark_session' %}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- if existing_relation is none
      or not existing_relation.is_view
      or not adapter.is_same_view(existing_relation, compiled_code, model) -%}
    {%- do return(create_or_replace_view()) -%}
  {%- endif -%}

  {{ run_hooks(pre_hooks) }}
  {%- call noop_statement('main', 'OK, unchanged') -%}
    -- the view exists
  {%- endcall -%}
  {% do apply_grants(existing_relation, config.get('grants'), should_revoke(true, full_refresh_mode=true)) %}
  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [existing_relation]}) }}
{% endmaterialization %}


{#-
  As dbt-spark's, with the checksum of the view. It is empty if there is none, since Iceberg keeps
  the properties of a view that it replaces.
-#}
{% macro spark_session__create_view_as(relation, sql) -%}
  {%- set checksum = adapter.view_checksum(sql, model) -%}
  create or replace view {{ relation }}
  {% if config.persist_column_docs() -%}
    ({{ get_persist_docs_column_list(model.columns, get_columns_in_query(sql)) }})
  {%- endif %}
  {{ comment_clause() }}
  {%- if config.get('contract').enforced -%}
    {{ get_assert_columns_equivalent(sql) }}
  {%- endif %}
  tblproperties ({{ adapter.string_literal(adapter.checksum_property()) }} = {{ adapter.string_literal(checksum or '') }})
  as
    {{ sql }}
{%- endmacro %}
