{{
    config(
        materialized='incremental',
        incremental_strategy='insert_overwrite',
    )
}}

-- Where tables lost columns: by a statement that drops or renames them or drops
-- their table, or by a whole list of columns that lacks one that was seen
-- before.  Of a list, the first and the last event that has it are known.

{%- set table_key = ['source_format', 'table_id'] %}
{%- set column_key = ['source_format', 'table_id', 'column_name'] %}

{#- Few rows, made anew where an event or a statement may change them. -#}
{%- do new_rows(ref('int_touched_keys')) %}
{%- do new_rows(ref('int_column_drops')) %}

with

table_schemas as (

    select * from {{ ref('int_table_schemas') }}
    where not {{ has_sparse_rows() }}

),

column_versions as (

    select
        source_format,
        table_id,
        column_name,
        first_sequence,
        last_sequence
    from table_schemas
        lateral view explode(column_names) as column_name

),

first_versions as (

    select
        source_format,
        table_id,
        column_name,
        min(first_sequence) as first_sequence
    from column_versions
    group by source_format, table_id, column_name

),

-- A statement names a column exactly, or in any letter case if that is the only
-- one of these letters.
named_drops as (

    select
        drops.source_format,
        drops.table_id,
        case
            when
                array_contains(
                    collect_set(first_versions.column_name), drops.column_name
                )
                or count(distinct first_versions.column_name) <> 1
                then drops.column_name
            else max(first_versions.column_name)
        end as column_name,
        drops.sequence
    from {{ ref('int_column_drops') }} as drops
    left join first_versions
        on
            {{ matches('drops', 'first_versions', table_key) }}
            and lower(drops.column_name) = lower(first_versions.column_name)
    where drops.column_name is not null
    group by
        drops.source_format,
        drops.table_id,
        drops.column_name,
        drops.sequence

),

statement_drops as (

    select * from named_drops

    union

    select
        drops.source_format,
        drops.table_id,
        first_versions.column_name,
        drops.sequence
    from {{ ref('int_column_drops') }} as drops
    inner join first_versions
        on
            {{ matches('drops', 'first_versions', table_key) }}
            and drops.sequence > first_versions.first_sequence
    where drops.column_name is null

),

-- next_sequence: from where the column may have been seen again.
followed_drops as (

    select
        drops.source_format,
        drops.table_id,
        drops.column_name,
        drops.sequence,
        min(seen.first_sequence) as next_sequence
    from statement_drops as drops
    left join column_versions as seen
        on
            {{ matches('drops', 'seen', column_key) }}
            and drops.sequence < seen.last_sequence
    group by
        drops.source_format,
        drops.table_id,
        drops.column_name,
        drops.sequence

),

-- What updates and deletes listed that no insert and no snapshot had listed
-- before.  Other events may stand between the first and the last of these.
narrow_versions as (

    select
        *,
        if(first_whole_sequence is null, last_sequence, first_sequence)
            as last_narrow_sequence
    from table_schemas
    where
        coalesce(first_sequence < first_whole_sequence, true)
        and {{ is_of_format_that('inserts_leave_out_columns') }}

),

-- Where such a list lacks a column that the table had, an insert may leave out
-- columns too.  The table had it unless it was dropped before the first of
-- these events and not seen again until the last.
tables_of_partial_images as (

    select distinct
        versions.source_format,
        versions.table_id
    from narrow_versions as versions
    inner join first_versions
        on {{ matches('versions', 'first_versions', table_key) }}
    left anti join followed_drops
        on
            {{ matches('versions', 'followed_drops', table_key) }}
            and first_versions.column_name = followed_drops.column_name
            and versions.first_sequence > followed_drops.sequence
            and coalesce(
                versions.last_narrow_sequence < followed_drops.next_sequence,
                true
            )
    where
        first_versions.first_sequence < versions.last_narrow_sequence
        and not array_contains(
            versions.column_names, first_versions.column_name
        )

),

whole_lists as (

    select
        versions.source_format,
        versions.table_id,
        versions.column_names,
        explode(array_distinct(array(
            versions.first_whole_sequence, versions.last_whole_sequence
        ))) as sequence
    from table_schemas as versions
    left anti join tables_of_partial_images
        on {{ matches('versions', 'tables_of_partial_images', table_key) }}
    where versions.first_whole_sequence is not null

),

lost_columns as (

    select
        source_format,
        table_id,
        column_name,
        sequence,
        true as is_dropped_by_statement
    from statement_drops

    union all

    select
        whole_lists.source_format,
        whole_lists.table_id,
        first_versions.column_name,
        whole_lists.sequence,
        false as is_dropped_by_statement
    from whole_lists
    inner join first_versions
        on {{ matches('whole_lists', 'first_versions', table_key) }}
    where
        first_versions.first_sequence < whole_lists.sequence
        and not array_contains(
            whole_lists.column_names, first_versions.column_name
        )

)

select * from lost_columns
