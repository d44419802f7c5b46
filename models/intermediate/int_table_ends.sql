-- Where a TRUNCATE or DROP TABLE ended every row that a table had.
select
    source_format,
    table_id,
    source_op,
    event_at,
    sequence,
    topic,
    `partition`
from {{ ref('int_records') }}
where record_type = 'ddl' and ends_rows
