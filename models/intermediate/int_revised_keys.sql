-- The keys whose earlier effects have changed.  Everything that depends on
-- these keys is computed again.

-- new rows may be read: they are the keys of new revisions
select
    source_format,
    table_id,
    row_keys.row_key,
    is_keyless
from {{ ref('int_exceptional_records') }}
    lateral view explode(row_keys) row_keys as row_key
where is_revision
