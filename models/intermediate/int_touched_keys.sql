-- The keys with effects or with an `update_before`, and the keys whose earlier
-- effects have changed.  The models that depend on the rows of keys read the
-- new rows of this view, to find the keys that a run has to look at.

-- new rows may be read: they are the keys of new effects and of new revisions
select
    source_format,
    table_id,
    row_key,
    is_keyless
from {{ ref('int_row_effects') }}

union all

-- An `update_before` that lands late may have values that the `update_after`
-- lacks.
select
    source_format,
    table_id,
    row_key,
    is_keyless
from {{ ref('int_split_records') }}
where record_type = 'update_before'

union all

select
    source_format,
    table_id,
    row_key,
    is_keyless
from {{ ref('int_revised_keys') }}
