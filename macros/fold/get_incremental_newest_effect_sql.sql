{#-
  The batch is the same each time it is queried, because a run reads ranges of
  snapshots.
-#}
{% macro get_incremental_newest_effect_sql(arguments) -%}
{%- set possible_matches = adapter.possible_matches(
    arguments.target_relation,
    arguments.temp_relation,
    arguments.unique_key,
    'held'
) %}
merge into {{ arguments.target_relation }} as held
using {{ arguments.temp_relation }} as batch
on
  {% for column in arguments.unique_key -%}
  held.{{ column }} = batch.{{ column }}{{ " and" if not loop.last }}
  {% endfor -%}
  {{ "and " ~ possible_matches if possible_matches }}
when matched
  and (batch.is_refolded or {{ last_sequence('batch.') }} > {{ last_sequence('held.') }})
  then update set
    {% for column in arguments.dest_columns if column.name != 'first_event_at' -%}
    {{ column.quoted }} = batch.{{ column.quoted }},
    {% endfor -%}
    first_event_at = if(
      batch.is_refolded,
      batch.first_event_at,
      least(held.first_event_at, batch.first_event_at)
    )
when matched
  and not least(held.first_event_at, batch.first_event_at) <=> held.first_event_at
  then update set first_event_at = batch.first_event_at
when not matched then insert *
{%- endmacro %}
