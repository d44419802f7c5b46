{#-
  Query of effects: which records repeat a delivery (`redelivery`), as they are
  not the first landed ones with their id.  Repeated ids are rare; they are looked
  for by hash.

  An earlier run may have taken a later copy for the first, where one that landed
  before it could be read only now: what that copy did is `withdrawn`.

  records: table expression with `delivery_id`.  earlier_effects: the same of
  what earlier runs read and still counts, none in the first.
-#}
{% macro redeliveries_sql(records, earlier_effects) -%}
{%- set delivery_key = ['source_format', 'delivery_id'] -%}
with

records as (select * from {{ records }}),

{% if earlier_effects -%}
earlier_effects as (

    select earlier_effects.*
    from {{ earlier_effects }} as earlier_effects
    left semi join records
        on {{ matches('earlier_effects', 'records', delivery_key) }}

),

earlier_deliveries as (

    select
        source_format,
        delivery_id,
        min({{ landing_order('earlier_effects') }}) as landing
    from earlier_effects
    group by source_format, delivery_id

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
    from earlier_deliveries
    {%- endif %}

),

repeated_records as (

    select
        records.*,
        {{ landing_order('records') }} as landing,
        min({{ landing_order('records') }}) over (
            partition by records.source_format, records.delivery_id
        ) as first_landing
    from records
    left semi join repeated_hashes
        on
            xxhash64(records.source_format, records.delivery_id)
            = repeated_hashes.delivery_hash
    where records.delivery_id is not null

)

select
    {{ record_columns('records') }},
    records.row_key,
    records.is_partial,
    false as is_move,
    'redelivery' as effect,
    records.delivery_id
from repeated_records as records
{% if earlier_effects -%}
left join earlier_deliveries
    on {{ matches('records', 'earlier_deliveries', delivery_key) }}
where
    records.landing > least(records.first_landing, earlier_deliveries.landing)

union all

-- once per record and what became of it, though an effect may be there twice
select distinct
    {{ record_columns('effects') }},
    effects.row_key,
    effects.is_partial,
    false as is_move,
    outcomes.effect,
    effects.delivery_id
from earlier_effects as effects
inner join repeated_records as records
    on
        {{ matches('effects', 'records', delivery_key) }}
        and {{ landing_order('effects') }} > records.first_landing
    lateral view explode(
        if(
            effects.effect = 'removal' and effects.op <> 'delete',
            array('withdrawn'),
            array('withdrawn', 'redelivery')
        )
    ) outcomes as effect
{%- else -%}
where records.landing > records.first_landing
{%- endif %}
{%- endmacro %}
