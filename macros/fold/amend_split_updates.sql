{#-
  Before halves that landed after the update they belong to was made an event:
  the event gets its row before, and the key it had.  Runs before the new events
  are appended; after a kill it does the same again.
-#}
{% macro amend_split_updates() -%}
  {%- if execute and is_incremental() -%}
    {%- set late_halves = late_before_halves(this, new_rows(ref('int_records'))) -%}
    {%- if run_query(late_halves ~ ' limit 1').rows | length > 0 -%}
      {%- set merge -%}
merge into {{ this }} as events
using ({{ late_halves }}) as late_halves
on events.event_id = late_halves.event_id
when matched then update set
    before = late_halves.before,
    previous_row_key = late_halves.previous_row_key,
    landed_at = late_halves.landed_at
      {%- endset -%}
      {%- do adapter.amend_rows(merge) -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{#-
  Query of the before halves among `records` whose update is among `events`
  already.
-#}
{% macro late_before_halves(events, records) -%}
select
    events.event_id,
    first_halves.before,
    nullif(first_halves.row_key, events.row_key) as previous_row_key,
    greatest(first_halves.landed_at, events.landed_at) as landed_at
from {{ events }} as events
inner join (
    select
        pairing_id,
        before,
        row_key,
        landed_at,
        row_number() over (
            partition by pairing_id
            order by landed_at, topic, `partition`, offset
        ) as delivery
    from {{ records }}
    where record_type = 'update_before'
) as first_halves
    on
        events.pairing_id = first_halves.pairing_id
        and first_halves.delivery = 1
where events.before is null
{%- endmacro %}
