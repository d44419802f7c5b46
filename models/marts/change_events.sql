-- A view over staging, so that no event is stored twice.  The view adds to
-- `unavailable_columns` the columns that an image lacks and that the table is
-- known to have (`int_missing_columns`).

with

events as (select * from {{ ref('int_events') }}),

missing_columns as (select * from {{ ref('int_missing_columns') }}),

change_events as (

    select
        events.* except (unavailable_columns, lists_all_columns),
        if(
            missing.schema_id is null,
            events.unavailable_columns,
            array_union(events.unavailable_columns, missing.column_names)
        ) as unavailable_columns
    from events
    left join missing_columns as missing
        on {{ lacks_columns_of('events', 'missing') }}

)

select * from change_events
