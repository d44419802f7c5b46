{#-
  Merge of a batch's newest effects into the state: one replaces what is held
  if it is newer, and either way where the key was folded whole.

  arguments: as dbt gives them to a strategy; both relations have the columns of
  `int_row_state`.
-#}
{% macro get_incremental_newest_effect_sql(arguments) -%}
merge into {{ arguments.target_relation }} as held
using {{ arguments.temp_relation }} as batch
on
  {% for column in arguments.unique_key -%}
  held.{{ column }} = batch.{{ column }}{{ " and" if not loop.last }}
  {% endfor -%}
when matched
  and (batch.is_refolded or batch.last_sequence > held.last_sequence)
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
