{#-
  Query of the withdrawal of effects in places that their messages have left: a
  full load was read before it was asked to repair its table.

  effects: table expression of those that count.  reloads: in the shape of
  `int_reloaded_messages`.
-#}
{% macro left_effects_sql(effects, reloads) -%}
select
    {{ record_columns('effects') }},
    effects.row_key,
    effects.is_partial,
    effects.is_move,
    'withdrawn' as effect
from {{ effects }} as effects
inner join {{ reloads }} as reloads
    on
        effects.source_format = reloads.source_format
        and effects.topic = reloads.topic
        and effects.sequence.`partition` = reloads.`partition`
        and effects.sequence.offset = reloads.offset
        and effects.sequence.transaction_index < reloads.transaction_index
where
    effects.effect in ('upsert', 'removal', 'redelivery')
    and {{ is_in_ranges_of(
        reloads,
        topic='effects.topic',
        partition='effects.sequence.`partition`',
        offset='effects.sequence.offset'
    ) }}
{%- endmacro %}
