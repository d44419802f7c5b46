with

records as (select * from {{ ref('int_records') }}),

transaction_events as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        source_type,
        database_name,
        transaction_id,
        source_op,
        ddl_text as statement_text,
        event_at,
        published_at,
        landed_at,
        sequence
    from records
    where record_type = 'transaction'

)

select * from transaction_events
