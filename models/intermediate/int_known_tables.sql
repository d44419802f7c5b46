{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The source tables that have at least one landed row, with their names.  A
-- table with partial images has a second row, with `has_partial_images`.

with

seen_tables as (

    select distinct
        source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        is_partial and not is_keyless as has_partial_images
    from {{ new_rows(ref('int_row_effects')) }}

),

new_tables as (

    select seen_tables.*
    from seen_tables
    {% if is_incremental() -%}
    left anti join {{ this }} as known_tables
        on
            seen_tables.source_format = known_tables.source_format
            and seen_tables.table_id = known_tables.table_id
            and seen_tables.database_name <=> known_tables.database_name
            and seen_tables.schema_name <=> known_tables.schema_name
            and seen_tables.table_name <=> known_tables.table_name
            and seen_tables.has_partial_images
            = known_tables.has_partial_images
    {%- endif %}

)

select * from new_tables
