{#-
  Tables of different names have different ids.  An id joins the names of
  database, schema and table by dots, so that names with dots of their own may
  give two tables one id; their rows then count as rows of one table.  A warning
  names the tables.

  model: the names of tables, as in `int_known_tables`.
-#}
{% test table_ids_are_unique(model) %}

{{ config(severity='warn') }}

with

tables as (

    select distinct
        source_format,
        table_id,
        struct(database_name, schema_name, table_name) as names
    from {{ model }}

),

validation_errors as (

    select
        source_format,
        table_id,
        array_sort(collect_list(names)) as tables
    from tables
    group by source_format, table_id
    having count(*) > 1

)

select * from validation_errors

{% endtest %}
