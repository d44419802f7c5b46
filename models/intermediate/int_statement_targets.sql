-- The known tables that the changes of statements refer to.  A change refers to
-- the tables whose names equal the names in the statement.  If there are none,
-- letter case is ignored: somebody typed the names.  Where messages carry no
-- statements, a record has the names of its own table, which must be equal.  A
-- name that the statement leaves out matches any name.  If a statement names a
-- database and a table, a table of this name without a database is meant only
-- if no other table fits.  If a change fits several tables equally well, it is
-- applied to none of them (`is_ambiguous`).  A change without a table name
-- refers to all tables of the database or schema that it names.  A single name
-- before the table name is the name of the database, or, if no database has
-- this name, of the schema.

with

-- A delivery may be listed at several places.  Its newest place is the highest,
-- because places only rise.
placed_changes as (

    select
        source_format,
        statement_id,
        change_index,
        {{ landing_order('table_changes') }} as landing,
        max_by(
            struct(
                topic,
                `partition`,
                offset,
                change,
                database_name,
                schema_name,
                table_name,
                column_names,
                source_op,
                event_at,
                sequence
            ),
            sequence
        ) as delivery
    from {{ ref('int_table_changes') }} as table_changes
    group by
        source_format,
        statement_id,
        change_index,
        landing_commit,
        topic,
        `partition`,
        offset

),

-- If a statement has several deliveries, the one that landed first counts.
first_deliveries as (

    select
        source_format,
        statement_id,
        change_index,
        min_by(delivery, landing) as delivery
    from placed_changes
    group by source_format, statement_id, change_index

),

changes as (

    select
        source_format,
        statement_id,
        change_index,
        delivery.*
    from first_deliveries

),

tables as (

    select distinct
        source_format,
        table_id,
        database_name,
        schema_name,
        table_name,
        {{ is_of_format_that('carries_statements') }} as has_statements
    from {{ ref('int_known_tables') }}

),

-- fit: how well the names match; 1 is the best.
fitting_tables as (

    select
        changes.*,
        tables.table_id,
        case
            when
                {{ is_of_database() }} and {{ fits_names('exactly') }}
                then 1
            when not tables.has_statements then null
            when
                {{ is_of_database() }} and {{ fits_names('in_any_case') }}
                then 2
            when {{ fits_as_schema('exactly') }} then 3
            when {{ fits_as_schema('in_any_case') }} then 4
            when changes.table_name is null then null
            when {{ fits_names('exactly') }} then 5
            when {{ fits_names('in_any_case') }} then 6
        end as fit,
        if(
            changes.table_name is not null,
            array(tables.table_id),
            array(
                tables.database_name,
                if(
                    changes.schema_name is not null
                    or not {{ fits_names('in_any_case') }},
                    tables.schema_name,
                    null
                )
            )
        ) as meant
    from changes
    inner join tables
        on
            changes.source_format = tables.source_format
            and (
                changes.table_name is null
                or lower(changes.table_name) = lower(tables.table_name)
            )
    where
        coalesce(
            changes.table_name, changes.schema_name, changes.database_name
        ) is not null
        and not (changes.table_name is null and changes.change = 'not_applied')

),

best_fits as (

    select
        *,
        min(fit) over (
            partition by source_format, statement_id, change_index
        ) as best_fit
    from fitting_tables
    where fit is not null

),

spread_fits as (

    select
        *,
        min(meant) over (
            partition by source_format, statement_id, change_index
        ) as first_meant,
        max(meant) over (
            partition by source_format, statement_id, change_index
        ) as last_meant
    from best_fits
    where fit = best_fit

),

statement_targets as (

    select
        * except (fit, best_fit, meant, first_meant, last_meant),
        first_meant <> last_meant as is_ambiguous
    from spread_fits

)

select * from statement_targets
