{#-
  Query of the keys, among those of `touched` effects, which within one
  transaction one row came to and one row left, in this order.

  Databases that check uniqueness at the end of a statement or transaction may
  have two rows under a key for a while: two rows swap their keys.  Then what
  leaves is the older one, and the newest effect on the key, a removal, is not
  what became of it.

  Where messages name no transaction, changes of the same time are taken for one.
  A format that tells a key change as a delete and an insert does not say which
  of them are key changes.

  effects: all effects.  touched: those whose keys are asked for, by default all.
-#}
{% macro contested_keys_sql(effects, touched=none) -%}
select
    source_format,
    table_id,
    row_key
{{ from_contesting_effects(effects, touched) }}
group by source_format, table_id, row_key, {{ transaction_of_effect() }}
having
    min(case when {{ arrives() }} then sequence end)
    < max(case when {{ departs() }} then sequence end)
{%- endmacro %}


{#-
  Whether `contested_keys_sql` finds any.  Most projects have no effect that may
  contest a key, which the files' own bounds tell.  Where there are such, hashes
  tell whether one row came to a key and one left it in one transaction, without
  a sort by key, and only then their order is asked for.
-#}
{% macro has_contested_keys(effects, touched=none) -%}
  {%- set may_be_contested -%}
  select true
  {{ from_contesting_effects(effects, touched) }}
  group by xxhash64(source_format, table_id, row_key, {{ transaction_of_effect() }})
  having bool_or({{ arrives() }}) and bool_or({{ departs() }})
  {%- endset -%}
  {%- do return(
      finds_rows(may_be_contested) and finds_rows(contested_keys_sql(effects, touched))
  ) -%}
{%- endmacro %}


{% macro from_contesting_effects(effects, touched) -%}
from {{ effects }} as effects
{% if touched -%}
left semi join {{ touched }} as touched
    on {{ matches('effects', 'touched') }}
{% endif -%}
where
    not is_keyless
    and ({{ arrives() }} or {{ departs() }})
{%- endmacro %}


{#- Whether an effect may bring a row to a key that another row has. -#}
{% macro arrives() -%}
(effect = 'upsert' and (is_move or {{ is_part_of_a_move('insert') }}))
{%- endmacro %}


{#- Whether an effect may take one of two rows from a key. -#}
{% macro departs() -%}
(effect = 'removal' and (is_move or {{ is_part_of_a_move('delete') }}))
{%- endmacro %}


{% macro is_part_of_a_move(op) -%}
op = '{{ op }}' and transaction_id is not null and source_format in (
    {%- for source_format in formats_that('moves_rows_by_delete_and_insert') -%}
    '{{ source_format }}'{{ ", " if not loop.last }}
    {%- endfor -%}
)
{%- endmacro %}


{% macro transaction_of_effect() -%}
coalesce(transaction_id, cast(event_at as string))
{%- endmacro %}
