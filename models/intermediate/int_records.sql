-- The records of all formats, each in its place in the log: that of its
-- message, else the one that `int_message_places` gives it.
select
    records.* except (event_id, sequence),
    {{ placed_event_id('records', 'places') }} as event_id,
    {{ placed_sequence('records.sequence', 'places') }} as sequence
from {{ ref('int_staging_records') }} as records
left join {{ ref('int_message_places') }} as places
    on {{ matches(
        'records', 'places', ['source_format', 'topic', '`partition`', 'offset']
    ) }}
