-- The records of all formats, each in its place in the log.  If
-- `int_message_places` has a place for the message, the record takes it.
-- Otherwise it stays at the position of its message.
select
    records.* except (event_id, sequence),
    {{ placed_event_id('records', 'places') }} as event_id,
    {{ placed_sequence('records', 'places') }} as sequence
from {{ ref('int_staging_records') }} as records
left join {{ ref('int_message_places') }} as places
    on {{ matches('records', 'places', columns_of_message()) }}
