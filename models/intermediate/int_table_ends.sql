-- Where a TRUNCATE or DROP TABLE ended every row that a table had.  A statement
-- that is delivered again ends nothing again.  What is new here tells which
-- tables have new ends, no more: the grouping is that of the new records.
select
    source_format,
    table_id,
    min_by(source_op, sequence) as source_op,
    min_by(event_at, sequence) as event_at,
    min(sequence) as sequence,
    min_by(topic, sequence) as topic,
    min_by(`partition`, sequence) as `partition`
from {{ ref('int_records') }}
where record_type = 'ddl' and ends_rows
group by
    source_format,
    table_id,
    coalesce(event_id, concat_ws(':', topic, `partition`, offset))
