{#-
  Changes of one key have different write times where their partitions differ:
  the write time is all that orders one partition against another.  Changes that
  their images put in order are left out.

  model: as `int_row_effects`.  contested_keys: where such changes were played
  back.  superseded: effects that say nothing of their key, after that.
-#}
{% test write_times_order_changes(model, contested_keys, superseded) %}

{{ config(severity='warn') }}

with

superseded_effects as (select * from {{ superseded }}),

effects_in_order as (

    select effects.*
    from {{ model }} as effects
    left semi join {{ contested_keys }} as contested_keys
        on {{ matches('effects', 'contested_keys') }}
    left anti join superseded_effects
        on {{ matches(
            'effects',
            'superseded_effects',
            ['source_format', 'table_id', 'row_key', 'event_id', 'effect'],
        ) }}
    where effects.{{ is_of_format_that('ordered_by_landing') }}

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
        leaving.effect = 'delete'
        and leaving.is_key_change
        and written.effect = 'upsert'

)

select * from validation_errors

{% endtest %}
