{#-
  CTEs that find the effects on keys with collisions which say nothing of what
  became of their key: the delete that took an older row from under a newer one,
  and what was written of a row that left while an older one stayed.  The effects
  on each such key are played back in sequence, with the rows that are under it.

  Ends in `collision_keys`, `collision_effects` and `superseded_effects`
  (source_format, table_id, row_key, event_id, effect, took_older_row: of a
  delete, whether a newer row stayed).

  effects: relation of all effects.  collisions: the query of
  `key_collisions_sql`.  A CTE `table_ends` of `ends_of_tables_sql` must stand
  before.
-#}
{% macro superseded_effects(effects, collisions) -%}
collision_keys as (

    select distinct
        source_format,
        table_id,
        row_key
    from ({{ collisions }})

),

collision_effects as (

    select effects.*
    from {{ effects }} as effects
    left semi join collision_keys
        on {{ matches('effects', 'collision_keys') }}
    where effects.effect in ('upsert', 'removal')

),

collision_events as (

    select
        events.source_format,
        events.event_id,
        events.previous_row_key,
        try_cast(events.after as map<string, string>) as after_image,
        {{ image_beyond_its_key('events.before', 'events.key_columns') }}
            as before_image
    from {{ ref('change_events') }} as events
    left semi join collision_effects
        on
            events.source_format = collision_effects.source_format
            and events.event_id = collision_effects.event_id

),

split_key_changes as (
    {{ split_key_changes_sql(effects) }}
),

collision_steps as (

    select
        effects.source_format,
        effects.table_id,
        effects.row_key,
        effects.event_id,
        effects.effect,
        max(effects.sequence) as sequence,
        max_by(
            {{ count_ends_before('effects', 'table_ends.ends') }},
            effects.sequence
        ) as generation,
        max(
            if(effects.op = 'snapshot', null, {{ transaction_of_effect() }})
        ) as transaction,
        bool_or(effects.op = 'snapshot') as is_snapshot,
        bool_or(
            effects.is_move
            or inserts.insert_id is not null
            or deletes.delete_id is not null
        ) as is_key_change,
        any_value(coalesce(events.previous_row_key, inserts.old_key))
            as previous_key,
        any_value(events.after_image) as after_image,
        any_value(events.before_image) as before_image
    from collision_effects as effects
    inner join collision_events as events
        on
            effects.source_format = events.source_format
            and effects.event_id = events.event_id
    left join table_ends
        on {{ matches('effects', 'table_ends', ['source_format', 'table_id']) }}
    left join split_key_changes as inserts
        on
            effects.source_format = inserts.source_format
            and effects.event_id = inserts.insert_id
    left join split_key_changes as deletes
        on
            effects.source_format = deletes.source_format
            and effects.event_id = deletes.delete_id
    group by
        effects.source_format,
        effects.table_id,
        effects.row_key,
        effects.event_id,
        effects.effect

),

collision_histories as (

    select
        source_format,
        table_id,
        row_key,
        array_sort(
            collect_list(struct(
                sequence,
                event_id,
                effect,
                generation,
                transaction,
                is_snapshot,
                is_key_change,
                previous_key,
                after_image,
                before_image
            )),
            (one, other) -> if(one.sequence < other.sequence, -1, 1)
        ) as steps
    from collision_steps
    group by source_format, table_id, row_key

),

superseded_effects as (

    select
        source_format,
        table_id,
        row_key,
        superseded.event_id,
        superseded.effect,
        superseded.took_older_row
    from collision_histories
        lateral view inline(
            aggregate(
                steps,
                {{ key_without_rows() }},
                (held, step) -> {{ key_after_step('held', 'step') }},
                held -> held.superseded
            )
        ) superseded as event_id, effect, took_older_row

)
{%- endmacro %}


{#- An image as texts by column; null where it says no more than its key. -#}
{% macro image_beyond_its_key(image, key_columns) -%}
if(
            exists(
                map_entries(try_cast({{ image }} as map<string, string>)),
                entry -> (
                    entry.value is not null
                    and not array_contains({{ key_columns }}, entry.key)
                )
            ),
            try_cast({{ image }} as map<string, string>),
            null
        )
{%- endmacro %}


{#-
  A key before its first effect.  rows: what is under it, the oldest first, each
  with the events that wrote it there.  last_delete: with the image of the row
  that it took, and whether a row under the key had that image.
-#}
{% macro key_without_rows() -%}
cast(
                    named_struct(
                        'rows', array(),
                        'generation', 0,
                        'transaction', null,
                        'last_delete', null,
                        'superseded', array()
                    )
                    as struct<
                        rows: array<struct<
                            event_ids: array<string>,
                            image: map<string, string>,
                            is_snapshot: boolean,
                            previous_key: string
                        >>,
                        generation: int,
                        transaction: string,
                        last_delete: struct<
                            position: decimal(38, 0),
                            `partition`: int,
                            image: map<string, string>,
                            found_its_row: boolean
                        >,
                        superseded: array<struct<
                            event_id: string, effect: string, took_older_row: boolean
                        >>
                    >
                )
{%- endmacro %}


{#- Arrays of one element stand for variables: SQL has none. -#}
{% macro key_after_step(held, step) -%}
transform(
                    array({{ rows_under_key(held, step) }}),
                    rows -> transform(
                        array({{ leaving_row('rows', step) }}),
                        leaving -> named_struct(
                            'rows', {{ rows_after_step(held, step, 'rows', 'leaving') }},
                            'generation', {{ step }}.generation,
                            'transaction', {{ step }}.transaction,
                            'last_delete', if(
                                {{ step }}.effect = 'removal',
                                struct(
                                    {{ step }}.sequence.position,
                                    {{ step }}.sequence.`partition`,
                                    {{ step }}.before_image as image,
                                    exists(rows, row -> {{ has_image('row', step) }})
                                        as found_its_row
                                ),
                                {{ held }}.last_delete
                            ),
                            'superseded', concat(
                                {{ held }}.superseded,
                                {{ superseded_by_step(held, step, 'rows', 'leaving') }}
                            )
                        )
                    )[0]
                )[0]
{%- endmacro %}


{#-
  The rows that a step meets: of what another transaction left there is one, of
  what was there before a truncation none.
-#}
{% macro rows_under_key(held, step) -%}
case
                        when {{ held }}.generation <> {{ step }}.generation
                            then slice({{ held }}.rows, 1, 0)
                        when {{ held }}.transaction <=> {{ step }}.transaction
                            then {{ held }}.rows
                        else slice({{ held }}.rows, -1, 1)
                    end
{%- endmacro %}


{#-
  Which row a delete takes, counted from 1; 0: all that are there.  The one whose
  image the delete carries; where that is not one row, a key change takes the
  oldest, which had to make room.  A row of the full load makes no room: it is
  the row that came, read once more.
-#}
{% macro leaving_row(rows, step) -%}
case
                            when {{ step }}.effect <> 'removal' or size({{ rows }}) <= 1 then 0
                            when size(filter({{ rows }}, row -> {{ has_image('row', step) }})) = 1
                                then cast(array_position(
                                    transform({{ rows }}, row -> {{ has_image('row', step) }}),
                                    true
                                ) as int)
                            when not {{ step }}.is_key_change or {{ rows }}[0].is_snapshot then 0
                            else 1
                        end
{%- endmacro %}


{#- Whether a delete carries the image of a row under the key. -#}
{% macro has_image(row, step) -%}
(
    {{ step }}.before_image is not null
    and {{ images_agree(step ~ '.before_image', row ~ '.image') }}
)
{%- endmacro %}


{% macro rows_after_step(held, step, rows, leaving) -%}
case
                                when {{ step }}.effect = 'removal' and {{ leaving }} = 0
                                    then slice({{ rows }}, 1, 0)
                                when {{ step }}.effect = 'removal'
                                    then filter({{ rows }}, (row, index) -> index <> {{ leaving }} - 1)
                                when {{ was_deleted_since(held, step) }} then {{ rows }}
                                when {{ step }}.is_key_change and not {{ is_same_arrival(rows, step) }}
                                    then array_append({{ rows }}, {{ row_of_step(step, 'array()') }})
                                else concat(
                                    slice({{ rows }}, 1, greatest(size({{ rows }}) - 1, 0)),
                                    array({{ row_of_step(
                                        step,
                                        'coalesce(try_element_at(' ~ rows ~ ', -1).event_ids, array())'
                                    ) }})
                                )
                            end
{%- endmacro %}


{% macro row_of_step(step, event_ids) -%}
struct(
                                    array_append(
                                        cast({{ event_ids }} as array<string>), {{ step }}.event_id
                                    ) as event_ids,
                                    {{ step }}.after_image as image,
                                    {{ step }}.is_snapshot,
                                    {{ step }}.previous_key
                                )
{%- endmacro %}


{#- Whether the row that came last is the same one, reported once more. -#}
{% macro is_same_arrival(rows, step) -%}
coalesce(
                                    try_element_at({{ rows }}, -1).previous_key = {{ step }}.previous_key
                                    and to_json(try_element_at({{ rows }}, -1).image)
                                    = to_json({{ step }}.after_image),
                                    false
                                )
{%- endmacro %}


{#-
  Whether a change comes before the delete that stands before it: both have one
  position in two partitions, and the delete took the row that the change wrote.
-#}
{% macro was_deleted_since(held, step) -%}
coalesce(
                                    {{ step }}.effect = 'upsert'
                                    and {{ held }}.last_delete.position = {{ step }}.sequence.position
                                    and {{ held }}.last_delete.`partition` <> {{ step }}.sequence.`partition`
                                    and not {{ held }}.last_delete.found_its_row
                                    and {{ held }}.last_delete.image is not null
                                    and {{ images_agree(held ~ '.last_delete.image', step ~ '.after_image') }},
                                    false
                                )
{%- endmacro %}


{#-
  A delete that leaves rows under the key, what was written of the newest row if
  that is the one that left, and a change that comes before the last delete.
-#}
{% macro superseded_by_step(held, step, rows, leaving) -%}
case
                                    when {{ leaving }} > 0 then concat(
                                        array(struct(
                                            {{ step }}.event_id,
                                            {{ step }}.effect,
                                            {{ leaving }} < size({{ rows }}) as took_older_row
                                        )),
                                        if(
                                            {{ leaving }} = size({{ rows }}),
                                            transform(
                                                {{ rows }}[{{ leaving }} - 1].event_ids,
                                                event_id -> struct(event_id, 'upsert' as effect, false as took_older_row)
                                            ),
                                            array()
                                        )
                                    )
                                    when {{ was_deleted_since(held, step) }}
                                        then array(struct(
                                            {{ step }}.event_id,
                                            {{ step }}.effect,
                                            false as took_older_row
                                        ))
                                    else array()
                                end
{%- endmacro %}
