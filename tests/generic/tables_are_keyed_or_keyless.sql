{#-
  Either all messages of a table name its key, or none does.  If only some
  messages name it, the table has rows with keys and keyless rows at the same
  time, and a warning names the table.  The setting `key` gives all its rows the
  same key.  Effects before the last truncation do not count.

  model: the effects, as in `int_row_effects`.  truncations: as
  `int_truncations`.
-#}
{% test tables_are_keyed_or_keyless(model, truncations) %}

{{ config(severity='warn') }}

with

effects as ({{ since_truncations_sql(model, truncations) }}),

validation_errors as (

    select
        source_format,
        table_id,
        count_if(is_keyless) as keyless_effects,
        count_if(not is_keyless) as keyed_effects,
        max(event_at) filter (where is_keyless) as last_keyless_event_at
    from effects
    group by source_format, table_id
    having bool_or(is_keyless) and bool_or(not is_keyless)

)

select * from validation_errors

{% endtest %}
