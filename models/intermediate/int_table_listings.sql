-- The shapes of each table whose messages list all its columns, to find the
-- columns that it lost.

with

table_schemas as (select * from {{ ref('int_table_schemas') }}),

table_listings as (

    select
        source_format,
        table_id,
        collect_list(struct(
            schema_id,
            first_sequence,
            last_sequence,
            map_keys(column_types) as column_names
        )) as listings
    from table_schemas
    where
        source_format in (
            {% for source_format in formats_that('lists_columns') -%}
            '{{ source_format }}'{{ "," if not loop.last }}
            {% endfor -%}
        )
    group by source_format, table_id

)

select * from table_listings
