{#-
  Query of what becomes of effects whose event has a higher position by now: they
  are withdrawn from their place so far and come again in the new one.

  effects: table expression of those that count.  raises: the same of messages
  with new positions.
-#}
{% macro raised_effects_sql(effects, raises) -%}
select
    effects.* except (effect, sequence),
    placed.effect,
    placed.sequence
from {{ effects }} as effects
inner join {{ raises }} as raises
    on
        effects.source_format = raises.source_format
        and effects.topic = raises.topic
        and effects.sequence.`partition` = raises.`partition`
        and effects.sequence.offset = raises.offset
        and not effects.sequence.position <=> raises.position
    lateral view inline(
        array(
            named_struct(
                'effect', 'withdrawn',
                'sequence', effects.sequence
            ),
            named_struct(
                'effect', effects.effect,
                'sequence',
                {{ moved_sequence('effects.sequence', 'raises') }}
            )
        )
    ) placed as effect, sequence
where
    effects.effect in ('upsert', 'removal')
    and {{ is_in_ranges_of(
        raises,
        topic='effects.topic',
        partition='effects.sequence.`partition`',
        offset='effects.sequence.offset'
    ) }}
{%- endmacro %}
