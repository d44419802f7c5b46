-- Where a statement dropped or renamed columns of a table.

with

-- new rows may be read: they say which tables have other drops than before
resolved_changes as (select * from {{ ref('int_resolved_changes') }}),

newest_resolutions as (

    select
        source_format,
        table_id,
        statement_id,
        max_by(struct(column_names, sequence), version) as newest
    from resolved_changes
    where change = 'column_drop'
    group by source_format, table_id, statement_id

),

column_drops as (

    select
        source_format,
        table_id,
        column_name,
        newest.sequence
    from newest_resolutions
        lateral view explode(newest.column_names) columns as column_name
    where newest.sequence is not null

)

select * from column_drops
