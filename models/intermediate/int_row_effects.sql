-- noqa: disable=LT02
-- The effects of events on rows.  An event writes the row of its key (`upsert`)
-- or deletes it (`delete`).  A key change has two effects: it also deletes the
-- row of the old key.  A redelivery has no effect.

with

-- new rows may be read: the exceptions of new records are new, too
records as (

    select
        *,
        {{ takes_columns_of_half() }} as takes_columns_of_half
    from {{ ref('int_records') }}

),

redeliveries as (

    select * from {{ ref('int_exceptional_records') }}
    where exception = 'redelivery'

),

split_updates as (

    select * from {{ ref('int_exceptional_records') }}
    where exception = 'split_update'

),

row_effects as (

    select
        records.source_format,
        records.table_id,
        records.database_name,
        records.schema_name,
        records.table_name,
        effects.row_key,
        -- The keys of the record: by these, Spark filters records before it
        -- makes effects of them.
        records.row_key as record_row_key,
        records.previous_row_key as record_previous_row_key,
        records.topic,
        records.`partition`,
        records.offset,
        records.message_position,
        records.op,
        records.event_id,
        records.pairing_id,
        records.transaction_id,
        records.schema_id,
        records.lists_all_columns,
        records.is_keyless,
        effects.effect = 'upsert' and records.unavailable_names is not null
            as is_partial,
        records.event_at,
        records.sequence,
        effects.is_key_change,
        effects.effect,
        records.before,
        if(effects.effect = 'upsert', records.after, null) as after
    from records
    left join redeliveries
        on {{ is_same_record('records', 'redeliveries') }}
    left join split_updates  -- noqa: ST11
        on {{ is_same_record('records', 'split_updates') }}
        lateral view inline(
            case
                when records.op = 'delete'
                    then array({{ effect_struct("'delete'") }})
                when
                    coalesce(
                        split_updates.old_row_key, records.previous_row_key
                    ) is null
                    then array({{ effect_struct("'upsert'") }})
                else array(
                    {{ effect_struct(
                        "'upsert'",
                        is_key_change='true',
                        row_key=filled_row_key(
                            'records.row_key',
                            'split_updates.old_row_key',
                            'records.takes_columns_of_half',
                        ),
                    ) }},
                    {{ effect_struct(
                        "'delete'",
                        is_key_change='true',
                        row_key='coalesce(
                            split_updates.old_row_key, records.previous_row_key
                        )',
                    ) }}
                )
            end
        ) effects as row_key, is_key_change, effect
    where records.record_type = 'change' and redeliveries.event_id is null

)

select * from row_effects
