-- The columns that tables have or had, and in which part of the log.  A part
-- begins with the first event that lists the column.  It ends where a statement
-- or a list of columns shows that the column is gone (`lost_sequence`);
-- `dropped_sequence` considers statements only.  A column that is added again
-- has another row.

with

table_schemas as (

    select * from {{ ref('int_table_schemas') }}
    where not {{ is_of_format_that('has_sparse_rows') }}

),

lost_columns as (select * from {{ ref('int_lost_columns') }}),

columns_of_versions as (

    select
        source_format,
        table_id,
        schema_id,
        first_sequence,
        last_sequence,
        column_name
    from table_schemas
        lateral view explode(column_names) as column_name

),

followed_columns as (

    select
        seen.source_format,
        seen.table_id,
        seen.schema_id,
        seen.column_name,
        seen.first_sequence,
        min(lost_columns.sequence) as lost_sequence,
        min(if(
            lost_columns.is_dropped_by_statement, lost_columns.sequence, null
        )) as dropped_sequence
    from columns_of_versions as seen
    left join lost_columns
        on
            {{ matches(
                'seen',
                'lost_columns',
                columns_of_table() + ['column_name'],
            ) }}
            and seen.last_sequence < lost_columns.sequence
    group by
        seen.source_format,
        seen.table_id,
        seen.schema_id,
        seen.column_name,
        seen.first_sequence

),

table_columns as (

    select
        source_format,
        table_id,
        column_name,
        lost_sequence,
        dropped_sequence,
        min(first_sequence) as first_sequence
    from followed_columns
    group by
        source_format, table_id, column_name, lost_sequence, dropped_sequence

)

select * from table_columns
