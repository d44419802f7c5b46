with

records as (select * from {{ ref('int_records') }}),

quarantined_messages as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        reject_code,
        reject_reason,
        value,
        case
            when is_valid_utf8(cast(value as string))
                then cast(value as string)
        end as value_text,
        landed_at
    from records
    where record_type = 'rejected'

)

select * from quarantined_messages
