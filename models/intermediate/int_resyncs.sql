{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The requests to repair tables (`cdc-marts resync`) that runs have read.  A
-- request empties its table until the rows of the load have their new place.
-- So a run reads it after the messages, and models read it only from here.

{#- The staging tables are written first. -#}
{%- set staging_records = ref('int_staging_records') %}

with

new_requests as (
    select * from {{ new_rows(source('landing', 'resyncs')) }}
)

select * from new_requests
