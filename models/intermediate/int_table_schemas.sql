-- noqa: disable=LT02
{{
    config(
        materialized='incremental',
        incremental_strategy='merge',
        unique_key=['source_format', 'table_id', 'schema_id'],
    )
}}

-- The schema versions of tables, as far as messages or their images list the
-- columns: from which event to which they were seen, and from which to which of
-- those that list all columns of the table.  Versions of withdrawn effects are
-- looked at whole.

{%- set new_effects = new_rows(ref('int_row_effects')) %}
{%- set all_effects = ref('int_valid_effects') %}
{%- set schema_key = ['source_format', 'table_id', 'schema_id'] %}
{%- set withdrawn_effects -%}
select * from {{ new_effects }}
where effect = 'withdrawn' and schema_id is not null
{%- endset %}
{%- set has_withdrawn_effects = is_incremental()
    and finds_rows(withdrawn_effects) %}

{%- set effects -%}
(
    select effects.*
    from ({{ valid_effects_sql(new_effects) }}) as effects
{%- if has_withdrawn_effects %}
    left anti join ({{ withdrawn_effects }}) as withdrawn
        on {{ matches('effects', 'withdrawn', schema_key) }}
    union all
    select effects.*
    from {{ all_effects }} as effects
    left semi join ({{ withdrawn_effects }}) as withdrawn
        on {{ matches('effects', 'withdrawn', schema_key) }}
{%- endif %}
)
{%- endset %}

{%- set sightings_of_run -%}
select
    source_format,
    table_id,
    schema_id,
    min(struct(sequence, topic)) as first_seen,
    max(sequence) as last_sequence,
    min(if(lists_all_columns, sequence, null)) as first_whole_sequence,
    max(if(lists_all_columns, sequence, null)) as last_whole_sequence
from {{ effects }}
where effect in ('upsert', 'removal') and schema_id is not null
group by source_format, table_id, schema_id
{%- endset %}
{%- set new_sightings = kept_rows('new_sightings', sightings_of_run) %}

{#- A version is described alike in all its messages: one of them is read. -#}
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
        max(last_sequence) as last_sequence,
        min(first_whole_sequence) as first_whole_sequence,
        max(last_whole_sequence) as last_whole_sequence
    from (
        select
            source_format,
            table_id,
            schema_id,
            first_seen.sequence as first_sequence,
            last_sequence,
            first_whole_sequence,
            last_whole_sequence
        from new_sightings
        {%- if is_incremental() %}
        union all
        select
            held_schemas.source_format,
            held_schemas.table_id,
            held_schemas.schema_id,
            held_schemas.first_sequence,
            held_schemas.last_sequence,
            held_schemas.first_whole_sequence,
            held_schemas.last_whole_sequence
        from held_schemas
        {%- if has_withdrawn_effects %}
        left anti join ({{ withdrawn_effects }}) as withdrawn
            on {{ matches('held_schemas', 'withdrawn', schema_key) }}
        {%- endif %}
        {%- endif %}
    )
    group by source_format, table_id, schema_id

),

descriptions as (

    select
        source_format,
        table_id,
        schema_id,
        any_value(source_type) as source_type,
        any_value(column_types) as column_types,
        any_value(column_parameters) as column_parameters,
        any_value(if(
            size(column_types) > 0,
            map_keys(column_types),
            array_union(
                array_union({{ names_in('after') }}, {{ names_in('before') }}),
                unavailable_columns
            )
        )) as column_names
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
        source_type,
        column_types,
        column_parameters,
        column_names
    from held_schemas
    {%- endif %}

),

table_schemas as (

    select
        sightings.source_format,
        sightings.table_id,
        sightings.schema_id,
        any_value(descriptions.source_type) as source_type,
        any_value(descriptions.column_types) as column_types,
        any_value(descriptions.column_parameters) as column_parameters,
        any_value(descriptions.column_names) as column_names,
        any_value(sightings.first_sequence) as first_sequence,
        any_value(sightings.last_sequence) as last_sequence,
        any_value(sightings.first_whole_sequence) as first_whole_sequence,
        any_value(sightings.last_whole_sequence) as last_whole_sequence
    from sightings
    inner join descriptions
        on {{ matches('sightings', 'descriptions', schema_key) }}
    group by
        sightings.source_format,
        sightings.table_id,
        sightings.schema_id

)

select * from table_schemas
