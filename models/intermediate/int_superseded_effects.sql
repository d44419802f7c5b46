{{
    config(
        materialized='incremental',
        incremental_strategy='insert_overwrite',
    )
}}

-- The effects on keys that two rows held at once which say nothing of what
-- became of their key.

{#- Few rows, made anew where an event or a truncation may change them. -#}
{%- do new_rows(ref('int_row_effects')) %}
{%- do new_rows(ref('int_table_ends')) %}
{%- set has_collisions = has_key_collisions(ref('int_valid_effects')) %}
{#- Kept: a plan that holds the question several times takes long to make. -#}
{%- if has_collisions %}
{%- set collisions = 'select * from ' ~ kept_rows(
    'collisions', key_collisions_sql(ref('int_valid_effects'))
) %}
{%- endif %}

{% if has_collisions -%}
with

table_ends as (
    {{ ends_of_tables_sql() }}
),

{{ superseded_effects(ref('int_valid_effects'), collisions) }}

select * from superseded_effects
{%- else -%}
select
    source_format,
    table_id,
    row_key,
    event_id,
    effect,
    false as took_older_row
from {{ ref('int_valid_effects') }}
where false
{%- endif %}
