{#-
  No row has NULL in its key.  A primary key never has NULL.  A unique key may
  have it in several rows, which then count as one row.  The test only warns,
  because there may be only one such row.
-#}
{% test key_columns_have_values(model) %}

{{ config(severity='warn') }}

with

rows_with_null as (

    select
        source_format,
        table_id,
        row_key
    from {{ model }}
    where
        size(key_columns) > 0
        and contains(row_key, ':null')
        and exists(
            map_values(from_json(row_key, 'map<string, string>')),
            key_value -> key_value is null
        )

),

validation_errors as (

    select
        source_format,
        table_id,
        count(distinct row_key) as row_keys,
        min(row_key) as row_key
    from rows_with_null
    group by source_format, table_id

)

select * from validation_errors

{% endtest %}
