-- The keys of which earlier effects have changed: what follows from these is
-- made anew.

-- new rows may be read: they are the keys of new changes
select
    source_format,
    table_id,
    row_keys.row_key,
    is_keyless
from {{ ref('int_exceptional_records') }}
    lateral view explode(row_keys) row_keys as row_key
where is_revision
