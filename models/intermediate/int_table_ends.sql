-- Where a TRUNCATE or DROP TABLE ended every row that a table had.  What is new
-- here says which tables have other truncations than before, no more: the
-- grouping is that of the new rows.

with

resolved_changes as (select * from {{ ref('int_resolved_changes') }}),

newest_resolutions as (

    select
        source_format,
        table_id,
        statement_id,
        max_by(
            struct(source_op, event_at, sequence, topic, `partition`), version
        ) as newest
    from resolved_changes
    where change = 'truncation'
    group by source_format, table_id, statement_id

),

table_ends as (

    select
        source_format,
        table_id,
        newest.*
    from newest_resolutions

)

select * from table_ends
