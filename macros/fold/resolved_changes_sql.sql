{#-
  Query of which tables the changes of statements are about: one row per change
  and table.  A change fits tables by exact names, else in any letter case; a
  name that it leaves out fits any.  Where it fits several equally well it is
  about none of them (`is_ambiguous`); one without a table name is about all
  tables of the one database or schema that it names.

  A single name before a table's may be its schema, where no database is so named.

  changes: as `int_table_changes`.  tables: as `int_known_tables`.
-#}
{% macro resolved_changes_sql(changes, tables) -%}
with

-- The place of a message only rises.
placed_changes as (

    select
        source_format,
        statement_id,
        change_index,
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
    from {{ changes }}
    group by
        source_format, statement_id, change_index, topic, `partition`, offset

),

-- A statement that is delivered again does nothing again.
first_deliveries as (

    select
        source_format,
        statement_id,
        change_index,
        min_by(delivery, delivery.sequence) as delivery
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

tables as (select * from {{ tables }}),

-- fit: the less the better.
fitting_tables as (

    select
        changes.*,
        tables.table_id,
        case
            when {{ fits_names('exactly') }} then 1
            when {{ fits_names('in_any_case') }} then 2
            when {{ fits_as_schema('exactly') }} then 3
            when {{ fits_as_schema('in_any_case') }} then 4
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

resolved_changes as (

    select
        * except (fit, best_fit, meant),
        min(meant) over one_change <> max(meant) over one_change
            as is_ambiguous
    from best_fits
    where fit = best_fit
    window one_change as (
        partition by source_format, statement_id, change_index
    )

)

select * from resolved_changes
{%- endmacro %}


{#- Whether all names of a change are those of a table. -#}
{% macro fits_names(way) -%}
(
    {{ name_fits('database_name', 'database_name', way) }}
    and {{ name_fits('schema_name', 'schema_name', way) }}
    and {{ name_fits('table_name', 'table_name', way) }}
)
{%- endmacro %}


{% macro fits_as_schema(way) -%}
(
    changes.schema_name is null
    and tables.schema_name is not null
    and {{ name_fits('database_name', 'schema_name', way) }}
    and {{ name_fits('table_name', 'table_name', way) }}
)
{%- endmacro %}


{% macro name_fits(named, known, way) -%}
coalesce(
        {%- if way == 'exactly' %}
        changes.{{ named }} = tables.{{ known }}
        {%- else %}
        lower(changes.{{ named }}) = lower(tables.{{ known }})
        {%- endif %},
        true
    )
{%- endmacro %}
