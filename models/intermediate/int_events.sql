-- The changes that are no redeliveries, each with both halves if it is a split
-- update.  `unavailable_columns` has only what the message shows.

with

redeliveries as (

    select * from {{ ref('int_exceptional_records') }}
    where exception = 'redelivery'

),

whole_events as (

    select records.*
    from {{ ref('int_records') }} as records
    left anti join redeliveries
        on {{ is_same_record('records', 'redeliveries') }}
    where records.record_type = 'change' and records.pairing_id is null

),

update_afters as (

    select records.*
    from {{ ref('int_split_records') }} as records
    left anti join redeliveries
        on {{ is_same_record('records', 'redeliveries') }}
    where records.record_type = 'change' and records.pairing_id is not null

),

update_befores as (

    select records.*
    from {{ ref('int_split_records') }} as records
    left anti join redeliveries
        on {{ is_same_record('records', 'redeliveries') }}
    where records.record_type = 'update_before'

),

paired_halves as (

    select
        update_afters.* except (before, previous_row_key, landed_at),
        update_befores.before,
        update_befores.row_key as previous_row_key,
        greatest(update_afters.landed_at, update_befores.landed_at)
            as landed_at
    from update_afters
    left join update_befores
        on {{ matches(
            'update_afters', 'update_befores', ['source_format', 'pairing_id']
        ) }}

),

compared_halves as (

    select
        *,
        {{ takes_columns_of_half() }}
        and coalesce(
            {{ lacks_columns_of_half('row_key', 'previous_row_key') }}, false
        ) as is_filled
    from paired_halves

),

joined_halves as (

    select
        * except (row_key, after, unavailable_columns, lists_all_columns),
        {{ filled_row_key('row_key', 'previous_row_key', 'is_filled') }}
            as row_key,
        if(is_filled, {{ filled_image('after', 'before') }}, after)
            as after,
        if(
            is_filled,
            array_except(
                unavailable_columns, json_object_keys(previous_row_key)
            ),
            unavailable_columns
        ) as unavailable_columns,
        lists_all_columns or is_filled as lists_all_columns
    from compared_halves

),

events as (

    select
        {{ change_event_columns() }},
        lists_all_columns
    from whole_events

    union all

    select
        {{ change_event_columns() }},
        lists_all_columns
    from joined_halves

)

select * from events
