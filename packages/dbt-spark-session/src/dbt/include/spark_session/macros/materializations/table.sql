{% materialization table, adapter='spark_session', supported_languages=['sql', 'python'] %}
  {%- set existing_relation = load_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set read = incremental_read() -%}

  {{ run_hooks(pre_hooks) }}
  {%- set query = compiled_code -%}
  {%- if model['language'] == 'python' -%}
    {%- set view = api.Relation.create(identifier=this.identifier ~ '__dbt_tmp') -%}
    {%- call statement('python_model', language='python') -%}
      {{ create_python_view(compiled_code, view, read) }}
    {%- endcall -%}
    {%- set query = 'select * from ' ~ view.identifier -%}
  {%- endif -%}
  {% do create_or_replace_table(target_relation, existing_relation, query, read) %}
  {% do finish_model(target_relation, existing_relation, read) %}
  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
