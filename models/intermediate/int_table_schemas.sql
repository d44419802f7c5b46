{{
    config(
        materialized='incremental',
        incremental_strategy='merge',
        unique_key=['source_format', 'table_id', 'schema_id'],
    )
}}

-- The shapes that tables had, as far as their messages list the columns, and
-- from which event to which they were seen.

{%- set new_effects = new_rows(ref('int_row_effects')) %}
{%- set schema_key = ['source_format', 'table_id', 'schema_id'] %}

{%- set sightings_of_run -%}
select
    source_format,
    table_id,
    schema_id,
    min(struct(sequence, topic)) as first_seen,
    max(sequence) as last_sequence
from {{ new_effects }}
where effect in ('upsert', 'removal') and schema_id is not null
group by source_format, table_id, schema_id
{%- endset %}
{%- set new_sightings = kept_rows('new_sightings', sightings_of_run) %}

{#- A shape is described alike in all of its messages: one of them is read. -#}
{%- set first_messages -%}
select
    first_seen.topic,
    first_seen.sequence.`partition`,
    first_seen.sequence.offset
from {{ new_sightings }} as new_sightings
{% if is_incremental() -%}
left anti join {{ this }} as held_schemas
    on {{ matches('new_sightings', 'held_schemas', schema_key) }}
{%- endif %}
{%- endset %}

with

new_sightings as (select * from {{ new_sightings }}),

{% if is_incremental() -%}
held_schemas as (select * from {{ this }}),
{%- endif %}

sightings as (

    select
        source_format,
        table_id,
        schema_id,
        min(first_sequence) as first_sequence,
        max(last_sequence) as last_sequence
    from (
        select
            source_format,
            table_id,
            schema_id,
            first_seen.sequence as first_sequence,
            last_sequence
        from new_sightings
        {%- if is_incremental() %}
        union all
        select
            source_format,
            table_id,
            schema_id,
            first_sequence,
            last_sequence
        from held_schemas
        {%- endif %}
    )
    group by source_format, table_id, schema_id

),

descriptions as (

    select
        source_format,
        table_id,
        schema_id,
        any_value(column_types) as column_types,
        any_value(column_parameters) as column_parameters
    from {{ new_rows(ref('int_records'), read_by=ref('int_row_effects')) }}
    where
        record_type = 'change'
        and schema_id is not null
        and {{ is_message_of(first_messages) }}
    group by source_format, table_id, schema_id

    {%- if is_incremental() %}
    union all

    select
        source_format,
        table_id,
        schema_id,
        column_types,
        column_parameters
    from held_schemas
    {%- endif %}

),

table_schemas as (

    select
        sightings.source_format,
        sightings.table_id,
        sightings.schema_id,
        any_value(descriptions.column_types) as column_types,
        any_value(descriptions.column_parameters) as column_parameters,
        any_value(sightings.first_sequence) as first_sequence,
        any_value(sightings.last_sequence) as last_sequence
    from sightings
    inner join descriptions
        on {{ matches('sightings', 'descriptions', schema_key) }}
    group by
        sightings.source_format,
        sightings.table_id,
        sightings.schema_id

)

select * from table_schemas
