-- The messages that take a higher position than their own, because of messages
-- that stand before them in their partition.
select * from {{ ref('int_raised_positions') }}

union all

select * from {{ ref('int_overtaken_changes') }}
