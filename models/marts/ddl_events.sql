with

records as (select * from {{ ref('int_records') }}),

ddl_events as (

    select
        source_format,
        topic,
        `partition`,
        offset,
        source_type,
        database_name,
        schema_name,
        table_name,
        table_id,
        source_op,
        ddl_text,
        transaction_id,
        ends_rows,
        event_at,
        published_at,
        landed_at,
        sequence
    from records
    where record_type = 'ddl'

)

select * from ddl_events
