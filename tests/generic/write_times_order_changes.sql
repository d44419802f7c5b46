{#-
  Changes of one key, and truncations of its table, have different write times
  where their partitions differ: the write time is all that orders one partition
  against another.  Changes that their images put in order are left out.

  model: as `int_row_effects`.  colliding_keys: where such changes were played
  back.  superseded: effects that say nothing of their key, after that.
  truncations: as `int_truncations`.
-#}
{% test write_times_order_changes(
    model, colliding_keys, superseded, truncations
) %}

{{ config(severity='warn') }}

with

effects as (

    select * from {{ model }}
    where {{ is_of_format_that('ordered_by_landing') }}

),

colliding_keys as (select * from {{ colliding_keys }}),

superseded_effects as (select * from {{ superseded }}),

truncations as (select * from {{ truncations }}),

colliding_effects as (

    select effects.*
    from effects
    left semi join colliding_keys
        on {{ matches('effects', 'colliding_keys') }}
    left anti join superseded_effects
        on {{ matches(
            'effects',
            'superseded_effects',
            ['source_format', 'table_id', 'row_key', 'event_id', 'effect'],
        ) }}

),

unordered_key_changes as (

    select
        leaving.source_format,
        leaving.table_id,
        leaving.row_key,
        leaving.event_id as one_event,
        written.event_id as other_event,
        leaving.event_at
    from colliding_effects as leaving
    inner join colliding_effects as written
        on
            {{ matches('leaving', 'written') }}
            and leaving.sequence.position = written.sequence.position
            and leaving.sequence.`partition` <> written.sequence.`partition`
    where
        leaving.effect = 'delete'
        and leaving.is_key_change
        and written.effect = 'upsert'

),

unordered_changes as (

    select
        effects.source_format,
        effects.table_id,
        effects.row_key,
        min_by(effects.event_id, effects.sequence) as one_event,
        max_by(effects.event_id, effects.sequence) as other_event,
        max(effects.event_at) as event_at
    from effects
    left anti join colliding_keys
        on {{ matches('effects', 'colliding_keys') }}
    where not effects.is_keyless
    group by
        effects.source_format,
        effects.table_id,
        effects.row_key,
        effects.sequence.position
    having count(distinct effects.sequence.`partition`) > 1

),

unordered_truncations as (

    select
        effects.source_format,
        effects.table_id,
        effects.row_key,
        effects.event_id as one_event,
        truncations.source_op as other_event,
        effects.event_at
    from effects
    inner join truncations
        on
            {{ matches('effects', 'truncations', ['source_format', 'table_id']) }}
            and effects.sequence.position = truncations.sequence.position
            and effects.sequence.`partition` <> truncations.sequence.`partition`
    where effects.effect = 'upsert' and truncations.source_op <> 'RESYNC'

),

validation_errors as (

    select * from unordered_key_changes

    union all

    select * from unordered_changes

    union all

    select * from unordered_truncations

)

select * from validation_errors

{% endtest %}
