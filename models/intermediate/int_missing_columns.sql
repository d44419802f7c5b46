{{
    config(
        materialized='incremental',
        incremental_strategy='insert_overwrite',
    )
}}

-- Which columns of the table are missing in the images of a schema version, and
-- in which part of the log.  Some parts have no missing column: in them, a
-- complete list of columns shows that the table had lost the column.  They are
-- kept because such a list is a weak proof, and a later message may refute it.
-- After a statement has dropped the column, there is no such part.

{%- set version_key = ['source_format', 'table_id', 'schema_id'] %}

{#-
  The model has few rows, and writes all of them again if these inputs have new
  rows.
-#}
{%- do new_rows(ref('int_touched_keys')) %}
{%- do new_rows(ref('int_column_drops')) %}

with

table_schemas as (

    select * from {{ ref('int_table_schemas') }}
    where not {{ has_sparse_rows() }}

),

table_columns as (select * from {{ ref('int_table_columns') }}),

lacking_versions as (

    select
        versions.source_format,
        versions.table_id,
        versions.schema_id,
        table_columns.column_name,
        table_columns.first_sequence,
        table_columns.lost_sequence,
        table_columns.dropped_sequence
    from table_schemas as versions
    inner join table_columns
        on {{ matches(
            'versions', 'table_columns', ['source_format', 'table_id']
        ) }}
    where
        table_columns.first_sequence < versions.last_sequence
        and not array_contains(
            versions.column_names, table_columns.column_name
        )

),

boundaries as (

    select distinct
        source_format,
        table_id,
        schema_id,
        explode(array_compact(array(
            first_sequence, lost_sequence, dropped_sequence
        ))) as from_sequence
    from lacking_versions

),

stretches as (

    select
        *,
        lead(from_sequence) over (
            partition by source_format, table_id, schema_id
            order by from_sequence
        ) as to_sequence
    from boundaries

),

missing_columns as (

    select
        stretches.source_format,
        stretches.table_id,
        stretches.schema_id,
        stretches.from_sequence,
        stretches.to_sequence,
        array_sort(collect_set(if(
            coalesce(lacking.lost_sequence > stretches.from_sequence, true),
            lacking.column_name,
            null
        ))) as column_names
    from stretches
    inner join lacking_versions as lacking
        on
            {{ matches('stretches', 'lacking', version_key) }}
            and stretches.from_sequence >= lacking.first_sequence
            and coalesce(
                stretches.from_sequence < lacking.dropped_sequence, true
            )
    group by
        stretches.source_format,
        stretches.table_id,
        stretches.schema_id,
        stretches.from_sequence,
        stretches.to_sequence

)

select * from missing_columns
