{{
    config(
        materialized='incremental',
        incremental_strategy='append',
    )
}}

-- The tables that lose rows or columns, with the statements that cause this.
-- When the first row of a table lands, a statement may turn out to refer to
-- this table too, or its name may become ambiguous.  Then a new version of the
-- change is added.  A run looks only at new statements, and at statements that
-- name a new table.

{%- set statement_key = ['source_format', 'statement_id'] %}
{%- set resolution = ['source_format', 'table_id', 'statement_id', 'change'] %}

with

table_changes as (select * from {{ ref('int_table_changes') }}),

touched_names as (

    select source_format, table_name
    from {{ new_rows(ref('int_table_changes')) }}

    union

    select source_format, table_name
    from {{ new_rows(ref('int_known_tables')) }}

),

-- All changes of a statement are resolved together.  Otherwise its changes of
-- other tables would look as if they no longer applied.
touched_statements as (

    select distinct
        naming.source_format,
        naming.statement_id
    from table_changes as naming
    inner join touched_names
        on
            naming.source_format = touched_names.source_format
            and (
                naming.table_name is null
                or lower(naming.table_name) = lower(touched_names.table_name)
            )

),

touched_targets as (

    select targets.*
    from {{ ref('int_statement_targets') }} as targets
    left semi join touched_statements
        on {{ matches('targets', 'touched_statements', statement_key) }}

),

resolutions as (

    select
        source_format,
        table_id,
        statement_id,
        change,
        min(sequence) as sequence,
        array_sort(array_distinct(flatten(collect_list(column_names))))
            as column_names,
        any_value(source_op) as source_op,
        any_value(event_at) as event_at,
        any_value(topic) as topic,
        any_value(`partition`) as `partition`
    from touched_targets
    where
        not is_ambiguous
        and change in (
            'truncation',
            'table_drop',
            'column_drop',
            'column_respelling',
            'unnamed_column_drop'
        )
    group by source_format, table_id, statement_id, change

),

{% if is_incremental() -%}
earlier_resolutions as (

    select
        earlier.source_format,
        earlier.table_id,
        earlier.statement_id,
        earlier.change,
        max_by(struct(earlier.*), earlier.version) as newest
    from {{ this }} as earlier
    left semi join touched_statements
        on {{ matches('earlier', 'touched_statements', statement_key) }}
    group by
        earlier.source_format,
        earlier.table_id,
        earlier.statement_id,
        earlier.change

),

changed_resolutions as (

    select
        resolutions.*,
        coalesce(earlier_resolutions.newest.version, 0) + 1 as version
    from resolutions
    left join earlier_resolutions
        on {{ matches('resolutions', 'earlier_resolutions', resolution) }}
    where
        not (
            resolutions.sequence <=> earlier_resolutions.newest.sequence
            and resolutions.column_names
            <=> earlier_resolutions.newest.column_names
        )

    union all

    -- earlier results that no longer hold, because another table became known
    select
        earlier_resolutions.source_format,
        earlier_resolutions.table_id,
        earlier_resolutions.statement_id,
        earlier_resolutions.change,
        null as sequence,
        earlier_resolutions.newest.column_names,
        earlier_resolutions.newest.source_op,
        earlier_resolutions.newest.event_at,
        earlier_resolutions.newest.topic,
        earlier_resolutions.newest.`partition`,
        earlier_resolutions.newest.version + 1 as version
    from earlier_resolutions
    left anti join resolutions
        on {{ matches('resolutions', 'earlier_resolutions', resolution) }}
    where earlier_resolutions.newest.sequence is not null

)
{%- else -%}
changed_resolutions as (

    select
        *,
        1 as version
    from resolutions

)
{%- endif %}

select * from changed_resolutions
