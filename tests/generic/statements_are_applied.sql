{#-
  Every statement is applied to the rows of its tables.  The test lists the
  statements that were not applied, with the tables to check or to load again.
  Some statements cannot be replayed (RENAME TABLE, TRUNCATE PARTITION, a
  rollback of published rows).  Some change columns, and a Canal server could not
  parse them, so it may publish later rows under wrong names.  Others name a
  table whose name fits several tables, or is known only in another database or
  schema.  Oracle's statements that move rows count only for tables whose key is
  the address of a row.

  tables: the tables of which a row has landed.  keys: their keys, as in
  `source_tables`.  targets: the tables to which the statements refer.
-#}
{% test statements_are_applied(model, tables, keys, targets) %}

{{ config(severity='warn') }}

with

changes as (select * from {{ model }}),

tables as (select * from {{ tables }}),

keyed_by_address as (

    select
        source_format,
        table_id
    from {{ keys }}
    where key_columns = array('rowid')

),

targets as (select * from {{ targets }}),

typed_changes as (

    select * from changes
    where {{ is_of_format_that('carries_statements') }}

),

problems as (

    select
        source_format,
        statement_id,
        change,
        if(is_ambiguous, 'ambiguous name', 'not applied') as problem,
        table_id
    from targets
    where is_ambiguous or change in ('not_applied', 'row_move')

    union all

    select
        changes.source_format,
        changes.statement_id,
        changes.change,
        'not applied' as problem,
        null as table_id
    from changes
    where changes.change = 'not_applied' and changes.table_name is null

    union all

    select
        typed_changes.source_format,
        typed_changes.statement_id,
        typed_changes.change,
        'unknown table' as problem,
        tables.table_id
    from typed_changes
    inner join tables
        on
            typed_changes.source_format = tables.source_format
            and lower(typed_changes.table_name) = lower(tables.table_name)
    left anti join targets
        on {{ matches(
            'typed_changes',
            'targets',
            ['source_format', 'statement_id', 'change_index'],
        ) }}

),

problems_of_rows as (

    select problems.*
    from problems
    left join keyed_by_address
        on {{ matches('problems', 'keyed_by_address', columns_of_table()) }}
    where
        problems.change <> 'row_move'
        or keyed_by_address.table_id is not null

),

validation_errors as (

    select
        changes.source_format,
        changes.statement_id,
        any_value(changes.database_name) as database_name,
        any_value(changes.source_op) as source_op,
        any_value(changes.ddl_text) as ddl_text,
        array_sort(collect_set(problems_of_rows.problem)) as problems,
        array_sort(collect_set(problems_of_rows.table_id)) as tables,
        min(changes.event_at) as event_at
    from problems_of_rows
    inner join changes
        on {{ matches(
            'problems_of_rows', 'changes', ['source_format', 'statement_id']
        ) }}
    group by changes.source_format, changes.statement_id

)

select * from validation_errors

{% endtest %}
