{#-
  Changes of one key have different write times where their partitions differ:
  the write time is all that orders one partition against another.  Changes that
  their images put in order are left out.

  Needs the columns of `int_row_effects`.  `table_ends`: where tables were
  emptied.
-#}
{% test write_times_order_changes(model, table_ends) %}

{{ config(severity='warn') }}

with

table_ends as (
    select
        source_format,
        table_id,
        array_sort(collect_list(struct(sequence, event_at, topic))) as ends
    from {{ table_ends }}
    group by source_format, table_id
),

{{ superseded_effects(
    model, keys_with_unordered_effects_sql(model, none)
) }},

effects_in_order as (

    select collision_effects.*
    from collision_effects
    left anti join superseded_effects
        on {{ matches(
            'collision_effects',
            'superseded_effects',
            ['source_format', 'table_id', 'row_key', 'event_id', 'effect'],
        ) }}

),

validation_errors as (

    select
        leaving.source_format,
        leaving.table_id,
        leaving.row_key,
        leaving.event_id as key_change,
        written.event_id as change,
        leaving.event_at
    from effects_in_order as leaving
    inner join effects_in_order as written
        on
            {{ matches('leaving', 'written') }}
            and leaving.sequence.position = written.sequence.position
            and leaving.sequence.`partition` <> written.sequence.`partition`
    where
        leaving.effect = 'removal'
        and leaving.is_move
        and written.effect = 'upsert'

)

select * from validation_errors

{% endtest %}
