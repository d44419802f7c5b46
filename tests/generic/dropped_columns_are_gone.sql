{#-
  Dropped columns are gone.  A warning names two kinds of tables, whose rows
  still have a column that may be dropped:

  SharePlex: the DROP COLUMN message names no column; only the next insert into
  the table shows which columns are left.

  Canal: an insert lacks the column, and no event has listed it since.  If
  images of the table were seen with fewer columns, this is no proof that the
  table lost the column, because inserts may leave out columns too.  Events
  before the last truncation do not count.

  model: the statements, as in `ddl_events`.  events: the events, as in
  `change_events`.  versions: the schema versions, as in `int_table_schemas`.
  table_columns: the columns of tables, as in `int_table_columns`.  truncations:
  as `int_truncations`.
-#}
{% test dropped_columns_are_gone(
    model, events, versions, table_columns, truncations
) %}

{{ config(severity='warn') }}

with

drops as (

    select
        source_format,
        table_id,
        max(sequence) as last_drop,
        max(event_at) as dropped_at
    from {{ model }}
    where upper(source_op) = 'DROP COLUMN'
    group by source_format, table_id

),

rows_of_tables as (

    select
        source_format,
        table_id,
        min(sequence) as first_sequence,
        max(sequence) filter (where op = 'insert') as last_insert
    from {{ events }}
    group by source_format, table_id

),

drops_without_names as (

    select
        drops.source_format,
        drops.table_id,
        cast(null as string) as column_name,
        drops.dropped_at
    from drops
    inner join rows_of_tables
        on {{ matches('drops', 'rows_of_tables', columns_of_table()) }}
    where
        rows_of_tables.first_sequence < drops.last_drop
        and (
            rows_of_tables.last_insert is null
            or rows_of_tables.last_insert < drops.last_drop
        )

),

last_truncations as ({{ last_truncations_of_tables_sql(truncations) }}),

-- SharePlex leaves NULL columns out of inserts, so this shows nothing there.
left_out_columns as (

    select
        versions.source_format,
        versions.table_id,
        table_columns.column_name,
        cast(null as timestamp) as dropped_at
    from {{ versions }} as versions
    inner join {{ table_columns }} as table_columns
        on {{ matches('versions', 'table_columns', columns_of_table()) }}
    left join last_truncations
        on {{ matches('versions', 'last_truncations', columns_of_table()) }}
    where
        versions.source_format = 'canal_json'
        and table_columns.lost_sequence is null
        and (
            last_truncations.sequence is null
            or last_truncations.sequence < versions.last_sequence
        )
    group by
        versions.source_format,
        versions.table_id,
        table_columns.column_name
    having
        max(versions.last_whole_sequence) filter (
            where not array_contains(
                versions.column_names, table_columns.column_name
            )
        )
        > max(versions.last_sequence) filter (
            where array_contains(
                versions.column_names, table_columns.column_name
            )
        )

),

validation_errors as (

    select * from drops_without_names
    union all
    select * from left_out_columns

)

select * from validation_errors

{% endtest %}
