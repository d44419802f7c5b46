{#-
  If two partitions report changes of one key, or a change and a truncation of
  its table, these have different write times.  Only the write time orders
  events of different partitions.  If messages of a format may land in another
  order than they were written, changes of one key have different positions also
  within a partition.  Changes that stand in the order that their images show
  pass the test.

  model: as `int_row_effects`.  superseded: the effects that do not count for
  their key, as in `int_superseded_effects`.  truncations: as `int_truncations`.
-#}
{% test write_times_order_changes(model, superseded, truncations) %}

{{ config(severity='warn') }}

with

effects as (

    select * from {{ model }}
    where
        (
            {{ is_of_format_that('ordered_by_landing') }}
            or {{ is_of_format_that('lands_out_of_order') }}
        )
        and not is_keyless
        -- a load that repairs a table stands behind what has its position
        and sequence.transaction_index < {{ resync_index(0) }}

),

superseded_effects as (select * from {{ superseded }}),

truncations as (select * from {{ truncations }}),

lasting_effects as (

    select effects.*
    from effects
    left anti join superseded_effects
        on {{ matches(
            'effects',
            'superseded_effects',
            columns_of_key() + ['event_id', 'effect'],
        ) }}

),

changes_of_one_time as (

    select
        source_format,
        table_id,
        row_key,
        sequence.position
    from lasting_effects
    group by source_format, table_id, row_key, sequence.position
    having
        count(distinct struct(topic, sequence.`partition`)) > 1
        or {{ is_of_format_that('lands_out_of_order') }} and count(*) > 1

),

followed_changes as (

    select
        *,
        lag(struct(event_id, effect, after)) over (
            partition by source_format, table_id, row_key
            order by sequence
        ) as previous
    from lasting_effects
    left semi join changes_of_one_time
        on {{ matches('lasting_effects', 'changes_of_one_time') }}

),

chained_changes as (

    select
        *,
        case
            when
                effect = 'upsert'
                and (is_key_change or op in ('insert', 'snapshot'))
                then coalesce(previous.effect = 'delete', true)
            else coalesce(
                forall(
                    map_entries(try_cast(before as map<string, string>)),
                    column -> column.value <=> coalesce(
                        try_cast(previous.after as map<string, string>),
                        map()
                    )[column.key]
                ),
                false
            )
        end as follows_previous
    from followed_changes

),

unordered_changes as (

    select
        changes.source_format,
        changes.table_id,
        changes.row_key,
        changes.previous.event_id as one_event,
        changes.event_id as other_event,
        changes.event_at
    from chained_changes as changes
    left semi join changes_of_one_time
        on
            {{ matches('changes', 'changes_of_one_time') }}
            and changes.sequence.position <=> changes_of_one_time.position
    where not changes.follows_previous

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
            {{ matches('effects', 'truncations', columns_of_table()) }}
            and effects.sequence.position = truncations.sequence.position
            and not (
                effects.topic = truncations.topic
                and effects.sequence.`partition`
                = truncations.sequence.`partition`
            )
    where effects.effect = 'upsert' and truncations.source_op <> 'RESYNC'

),

validation_errors as (

    select * from unordered_changes

    union all

    select * from unordered_truncations

)

select * from validation_errors

{% endtest %}
