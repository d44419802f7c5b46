{#-
  Condition on effects: written where deliveries that repeat `records`, or their
  other halves, can be, so that files of other positions are not read.  All
  deliveries of a record share its format, its `delivery_position`, and whether it
  is of a full load.

  The ranges are cut where positions leave wide gaps, and per topic: one old
  redelivery, or a full load, must not have all between it and now read.
-#}
{% macro delivered_near(records) -%}
  {%- if not is_being_written() -%}
    {%- do return('true') -%}
  {%- endif -%}
  {%- set most = 200 -%}
  {%- set ranges = run_query(
      delivery_ranges_sql(records) ~ ' limit ' ~ (most + 1)
  ).rows -%}
  {%- if ranges | length > most -%}
    {%- set ranges = run_query(delivery_ranges_sql(records, 1, 'null')).rows -%}
  {%- endif -%}
  {%- set conditions = [] -%}
  {%- for source_format, is_snapshot, first, last in ranges -%}
    {%- set positions = 'delivery_position is null' if first is none
        else 'delivery_position between ' ~ first ~ ' and ' ~ last -%}
    {%- do conditions.append(
        "(source_format = '%s' and %s op <=> 'snapshot' and %s)"
        | format(source_format, '' if is_snapshot else 'not', positions)
    ) -%}
  {%- endfor -%}
  {%- do return('(' ~ (conditions | join(' or ') or 'false') ~ ')') -%}
{%- endmacro %}


{#-
  Query of the ranges: source_format, is_snapshot, first, last; null for records
  without a position.

  pieces: into how many parts of equal width what a topic spans is cut, of which
  the empty ones are left out.  topic: expression.
-#}
{% macro delivery_ranges_sql(records, pieces=16, topic='topic') -%}
with

deliveries as (

    select
        source_format,
        {{ topic }} as topic,
        -- a half of an update has no op
        op <=> 'snapshot' as is_snapshot,
        delivery_position
    from {{ records }}
    where
        record_type in ('change', 'update_before')
        and {{ may_be_redelivered() }}
        and (pairing_id is not null or instr(event_id, ':') = 0)

),

topics as (

    select
        source_format,
        topic,
        is_snapshot,
        cast(min(delivery_position) as double) as first_position,
        cast(max(delivery_position) as double) as last_position
    from deliveries
    group by source_format, topic, is_snapshot

)

select
    deliveries.source_format,
    deliveries.is_snapshot,
    min(deliveries.delivery_position),
    max(deliveries.delivery_position)
from deliveries
inner join topics
    on
        deliveries.source_format = topics.source_format
        and deliveries.topic <=> topics.topic
        and deliveries.is_snapshot = topics.is_snapshot
group by
    deliveries.source_format,
    deliveries.topic,
    deliveries.is_snapshot,
    deliveries.delivery_position is null,
    width_bucket(
        cast(deliveries.delivery_position as double),
        topics.first_position,
        topics.last_position,
        {{ pieces }}
    )
{%- endmacro %}
