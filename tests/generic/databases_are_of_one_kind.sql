{#-
  Canal JSON does not name the kind of database.  If one table of a database has
  type names of Oracle or PostgreSQL, the whole database is of this kind.  But a
  table with only type names that MySQL has too is read as a MySQL table.
-#}
{% test databases_are_of_one_kind(model) %}

{{ config(severity='warn') }}

with

tables as (

    select
        database_name,
        table_id,
        max(nullif(source_type, 'mysql')) as source_type
    from {{ model }}
    where source_format = 'canal_json' and database_name is not null
    group by database_name, table_id

),

databases as (

    select
        database_name,
        max(source_type) as source_type
    from tables
    group by database_name

),

validation_errors as (

    select
        database_name,
        tables.table_id,
        databases.source_type as source_type_of_other_tables
    from tables
    inner join databases using (database_name)
    where tables.source_type is null and databases.source_type is not null

)

select * from validation_errors

{% endtest %}
