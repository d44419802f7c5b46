{{
    config(
        materialized='incremental',
        incremental_strategy='merge',
        unique_key=['source_format', 'table_id'],
    )
}}

-- The columns that a table had at its last event that lists them all: what a
-- row still holds besides is gone from the source.

with

new_events as (select * from {{ new_rows(ref('change_events')) }}),

listings as (

    select
        source_format,
        table_id,
        sequence,
        map_keys(column_types) as column_names
    from new_events
    where
        size(column_types) > 0
        and source_format in (
            {% for source_format in formats_that('lists_columns') -%}
            '{{ source_format }}'{{ "," if not loop.last }}
            {% endfor -%}
        )

    {% if is_incremental() -%}
    union all

    select
        source_format,
        table_id,
        sequence,
        column_names
    from {{ this }}
    {%- endif %}

),

table_columns as (

    select
        source_format,
        table_id,
        max_by(array_sort(column_names), sequence) as column_names,
        max(sequence) as sequence
    from listings
    group by source_format, table_id

)

select * from table_columns
