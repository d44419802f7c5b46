-- The keys with effects, and the keys of which earlier effects have changed:
-- whatever follows the state of rows looks at these.

-- new rows may be read: they are the keys of new effects and of new changes
select
    source_format,
    table_id,
    row_key,
    is_keyless
from {{ ref('int_row_effects') }}

union all

-- a late half with the row before has values that the half after may lack
select
    source_format,
    table_id,
    row_key,
    size(key_columns) = 0 as is_keyless
from {{ ref('int_split_records') }}
where record_type = 'update_before'

union all

select
    source_format,
    table_id,
    row_key,
    is_keyless
from {{ ref('int_revised_keys') }}
