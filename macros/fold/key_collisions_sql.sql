{#-
  Query of the keys that two rows may have held at once, among those of `touched`
  effects (by default all).  There the newest effect need not say what became of
  the key.  Two cases:

  - Within one transaction a row came to the key and a row left it, in this
    order: databases that check uniqueness at the end of a statement or
    transaction let two rows swap their keys.  Where messages name no
    transaction, changes of one time count as one.
  - One partition reports that the row left the key and another, at the same
    position, a change of the row: their order is not known.

  effects: relation of all effects.
-#}
{% macro key_collisions_sql(effects, touched=none) -%}
{{ keys_shared_in_a_transaction_sql(effects, touched) }}
union
{{ keys_with_unordered_effects_sql(effects, touched) }}
{%- endmacro %}


{#-
  Whether `key_collisions_sql` finds any.  Hashes say whether rows came to a key
  and left it in one transaction; only then their order is asked for.
-#}
{% macro has_key_collisions(effects, touched=none) -%}
  {%- set may_be_shared -%}
  select true
  {{ from_touched_effects(effects, touched) }}
  where not is_keyless and ({{ may_come() }} or {{ may_leave() }})
  group by xxhash64(source_format, table_id, row_key, {{ transaction_of_effect() }})
  having bool_or({{ may_come() }}) and bool_or({{ may_leave() }})
  {%- endset -%}
  {%- do return(
      finds_rows(may_be_shared)
      and finds_rows(keys_shared_in_a_transaction_sql(effects, touched))
      or finds_rows(keys_with_unordered_effects_sql(effects, touched))
  ) -%}
{%- endmacro %}


{% macro keys_shared_in_a_transaction_sql(effects, touched) -%}
select
    source_format,
    table_id,
    row_key
{{ from_touched_effects(effects, touched) }}
where not is_keyless and ({{ may_come() }} or {{ may_leave() }})
group by source_format, table_id, row_key, {{ transaction_of_effect() }}
having
    min(case when {{ may_come() }} then sequence end)
    < max(case when {{ may_leave() }} then sequence end)
{%- endmacro %}


{% macro keys_with_unordered_effects_sql(effects, touched) -%}
select
    leaving.source_format,
    leaving.table_id,
    leaving.row_key
from (
    select effects.*
    {{ from_touched_effects(effects, touched) }}
    where
        effect = 'removal'
        and is_move
        and not is_keyless
        and source_format in (
            {%- for source_format in formats_that('ordered_by_landing') -%}
            '{{ source_format }}'{{ ", " if not loop.last }}
            {%- endfor -%}
        )
) as leaving
inner join {{ effects }} as written
    on
        {{ matches('leaving', 'written') }}
        and leaving.sequence.position = written.sequence.position
        and leaving.sequence.`partition` <> written.sequence.`partition`
        and leaving.sequence < written.sequence
where written.effect = 'upsert'
{%- endmacro %}


{% macro from_touched_effects(effects, touched) -%}
from {{ effects }} as effects
{% if touched -%}
left semi join {{ touched }} as touched
    on {{ matches('effects', 'touched') }}
{%- endif -%}
{%- endmacro %}


{#- Whether an effect may bring a row to a key that another row has. -#}
{% macro may_come() -%}
(effect = 'upsert' and (is_move or {{ may_be_part_of_a_key_change('insert') }}))
{%- endmacro %}


{#- Whether an effect may take one of two rows from a key. -#}
{% macro may_leave() -%}
(effect = 'removal' and (is_move or {{ may_be_part_of_a_key_change('delete') }}))
{%- endmacro %}


{% macro may_be_part_of_a_key_change(op) -%}
op = '{{ op }}' and transaction_id is not null and {{ is_split_format() }}
{%- endmacro %}


{% macro transaction_of_effect() -%}
coalesce(transaction_id, cast(event_at as string))
{%- endmacro %}
