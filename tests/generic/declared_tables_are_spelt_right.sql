{#-
  No declaration names a table that no message names, while an undeclared table
  has nearly this name: its key and its typed mart would be missing without a
  word.  A table whose messages are still to come passes.  A warning names both
  tables.

  model: the source tables, with the columns of `source_tables`.
  tables: the declarations, as in the var `tables`.
-#}
{% test declared_tables_are_spelt_right(model, tables) %}

{{ config(severity='warn') }}

with

source_tables as (select * from {{ model }}),

declared_tables as (

    select * from values
    {% for mart, table in tables.items() -%}
    (
        {{ adapter.string_literal(mart) }},
        {{ adapter.string_literal(table.source_format) }},
        {{ adapter.string_literal(table.table_id) }}
    ),
    {% endfor -%}
    -- there may be no declaration
    (null, null, null)
    as declared_tables (mart, source_format, table_id)

),

tables_without_messages as (

    select declared_tables.*
    from declared_tables
    left anti join source_tables
        on
            declared_tables.source_format = source_tables.source_format
            and declared_tables.table_id = source_tables.table_id
    where declared_tables.table_id is not null

),

undeclared_tables as (

    select
        source_tables.source_format,
        source_tables.table_id
    from source_tables
    left anti join declared_tables
        on
            source_tables.source_format = declared_tables.source_format
            and source_tables.table_id = declared_tables.table_id

),

validation_errors as (

    select
        tables_without_messages.mart,
        tables_without_messages.source_format,
        tables_without_messages.table_id,
        min_by(
            undeclared_tables.table_id,
            levenshtein(
                lower(tables_without_messages.table_id),
                lower(undeclared_tables.table_id)
            )
        ) as similar_table_id
    from tables_without_messages
    inner join undeclared_tables
        on
            tables_without_messages.source_format
            = undeclared_tables.source_format
            and levenshtein(
                lower(tables_without_messages.table_id),
                lower(undeclared_tables.table_id)
            ) <= 2
    group by
        tables_without_messages.mart,
        tables_without_messages.source_format,
        tables_without_messages.table_id

)

select * from validation_errors

{% endtest %}
