-- The places in the log at which a statement dropped or renamed columns of a
-- table, or dropped the table with all its columns.  If it changed only the
-- letter case of a column's name, `column_name` is the new spelling, and the
-- old one is gone.  A statement may not name the column that it drops.

with

-- new rows may be read: they name the tables whose drops have changed
resolved_changes as (select * from {{ ref('int_resolved_changes') }}),

newest_resolutions as (

    select
        source_format,
        table_id,
        statement_id,
        change,
        max_by(struct(column_names, sequence), version) as newest
    from resolved_changes
    where
        change in (
            'column_drop',
            'column_respelling',
            'unnamed_column_drop',
            'table_drop'
        )
    group by source_format, table_id, statement_id, change

),

column_drops as (

    select
        source_format,
        table_id,
        column_name,
        change,
        newest.sequence
    from newest_resolutions
        lateral view explode(newest.column_names) columns as column_name
    where newest.sequence is not null

    union all

    select
        source_format,
        table_id,
        cast(null as string) as column_name,
        change,
        newest.sequence
    from newest_resolutions
    where
        newest.sequence is not null
        and change in ('table_drop', 'unnamed_column_drop')

)

select * from column_drops
