{% macro land_sample(seed) -%}
{%- if execute -%}
  {%- set landing_table = landing_relation(seed.identifier | replace('sample_', '', 1)) -%}
  {%- set missing -%}
select seed.* from {{ seed }} as seed
left anti join {{ landing_table }} as landed
    on
        seed.topic = landed.topic
        and seed.`partition` = landed.`partition`
        and seed.offset = landed.offset
  {%- endset -%}
  {%- if run_query(missing ~ ' limit 1').rows | length > 0 -%}
insert into {{ landing_table }}
select
    topic,
    `partition`,
    offset,
    timestamp_millis(timestamp) as timestamp,
    cast(key as binary) as key,
    coalesce(unbase64(value_base64), cast(value as binary)) as value,
    current_timestamp() as landed_at
from ({{ missing }})
  {%- endif -%}
{%- endif -%}
{%- endmacro %}
