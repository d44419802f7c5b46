{#-
  Call a Python function, `package.module:function`, from a SQL model, and return the name of a view
  of the rows that it returns. The function gets the Spark session, an object for the run
  (`dataframes.ModelRun`), and the `arguments` by name.

  `inputs`: name in the function -> relation that it reads. `new_inputs`: name -> relation of which
  it reads the rows that the model has not read yet. `changed_inputs`: name -> table that is merged
  into or rebuilt; the function reads its earlier rows, and the changes.

  If inputs don't exist, because nothing is written (`dbt compile` before the first run, a unit
  test), the function must return a query without rows. The model must be a table: a view would have
  to outlive the session.
-#}
{% macro dataframe(function, inputs={}, new_inputs={}, arguments={}, changed_inputs={}) -%}
  {%- if not execute -%}
    {%- do return(model.alias) -%}
  {%- endif -%}
  {%- if config.get('materialized') in ['view', 'ephemeral'] -%}
    {%- do exceptions.raise_compiler_error(
        "A view can't have the rows of a DataFrame: give it `materialized: table` or `incremental`."
    ) -%}
  {%- endif -%}
  {%- set missing = [] -%}
  {%- for relation in inputs.values() | list + new_inputs.values() | list
      + changed_inputs.values() | list
      if relation.is_cte or load_relation(relation) is none -%}
    {%- do missing.append(relation.identifier) -%}
  {%- endfor -%}
  {%- if missing and flags.WHICH in ['run', 'build'] and model.resource_type == 'model' -%}
    {%- do exceptions.raise_compiler_error(
        'It reads ' ~ missing | unique | join(', ') ~ ', which do not exist: build them first.'
    ) -%}
  {%- endif -%}
  {%- set read = incremental_read() -%}
  {%- set expressions, new_rows_expressions, changes = {}, {}, {} -%}
  {%- if not missing -%}
    {%- for name, relation in inputs.items() -%}
      {%- do expressions.update({name: relation.render()}) -%}
    {%- endfor -%}
    {%- for name, relation in new_inputs.items() -%}
      {%- do new_rows_expressions.update({name: new_rows(relation)}) -%}
    {%- endfor -%}
    {%- for name, relation in changed_inputs.items() -%}
      {%- if reads_increments(relation) -%}
        {%- do changes.update({name: read.changes(relation.render())}) -%}
      {%- else -%}
        {%- do changes.update({name: adapter.unknown_changes(relation)}) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(adapter.dataframe(
      function,
      model.alias ~ '__dbt_rows',
      read,
      none if missing else expressions,
      new_rows_expressions,
      changes,
      arguments,
      exceptions.warn
  )) -%}
{%- endmacro %}
