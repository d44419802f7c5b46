-- What each event does to a row: it writes the row of its key, or it removes
-- it; a key change also removes the row of the old key.
select
    source_format,
    table_id,
    database_name,
    schema_name,
    table_name,
    row_key,
    topic,
    op,
    event_id,
    pairing_id,
    event_at,
    sequence,
    size(key_columns) = 0 as is_keyless,
    op <> 'delete' as is_upsert,
    op <> 'delete' and size(unavailable_columns) > 0 as is_partial,
    case
        when op = 'delete' then -1
        -- an update that leaves a keyless row as it was adds none
        when op = 'update' and previous_row_key is null and before is not null
            then 0
        else 1
    end as count_change
from {{ ref('change_events') }}

union all

select
    source_format,
    table_id,
    database_name,
    schema_name,
    table_name,
    previous_row_key as row_key,
    topic,
    op,
    event_id,
    pairing_id,
    event_at,
    sequence,
    size(key_columns) = 0 as is_keyless,
    false as is_upsert,
    false as is_partial,
    -1 as count_change
from {{ ref('change_events') }}
where previous_row_key is not null
