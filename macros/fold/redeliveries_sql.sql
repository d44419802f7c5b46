{#-
  Query of the records that repeat a delivery: not the first ones with their id,
  or with one that an earlier run read.  Repeated ids are rare; they are looked
  for by hash.

  records: table expression with `delivery_id`.  earlier_effects: the same of
  what earlier runs read, none in the first.
-#}
{% macro redeliveries_sql(records, earlier_effects) -%}
{%- set delivery_key = ['source_format', 'delivery_id'] -%}
with

records as (select * from {{ records }}),

{% if earlier_effects -%}
known_ids as (

    select distinct
        source_format,
        delivery_id
    from {{ earlier_effects }} as earlier_effects
    left semi join records
        on {{ matches('earlier_effects', 'records', delivery_key) }}

),
{%- endif %}

repeated_hashes as (

    select xxhash64(source_format, delivery_id) as delivery_hash
    from records
    where delivery_id is not null
    group by xxhash64(source_format, delivery_id)
    having count(*) > 1

    {% if earlier_effects -%}
    union all

    select xxhash64(source_format, delivery_id) as delivery_hash
    from known_ids
    {%- endif %}

),

repeated_records as (

    select
        records.*,
        row_number() over (
            partition by records.source_format, records.delivery_id
            order by
                records.landed_at,
                records.topic,
                records.sequence.`partition`,
                records.sequence.offset,
                records.sequence.row_index
        ) as delivery
    from records
    left semi join repeated_hashes
        on
            xxhash64(records.source_format, records.delivery_id)
            = repeated_hashes.delivery_hash
    where records.delivery_id is not null

)

select repeated_records.* except (delivery)
from repeated_records
{% if earlier_effects -%}
left join known_ids
    on {{ matches('repeated_records', 'known_ids', delivery_key) }}
where repeated_records.delivery > 1 or known_ids.delivery_id is not null
{%- else -%}
where repeated_records.delivery > 1
{%- endif %}
{%- endmacro %}
