{#-
  Every statement is applied to the rows of its tables.  The test lists the
  statements that were not applied, with the tables to check or to load again.
  Some statements cannot be replayed (RENAME TABLE, TRUNCATE PARTITION, a
  rollback of published rows).  Some change columns, and a Canal server could not
  parse them, so it may publish later rows under wrong names.  Others name a
  table whose name fits several tables, or is known only in another database or
  schema.

  tables: the tables of which a row has landed.  targets: the tables to which
  the statements refer.
-#}
{% test statements_are_applied(model, tables, targets) %}

{{ config(severity='warn') }}

with

changes as (select * from {{ model }}),

tables as (select * from {{ tables }}),

targets as (select * from {{ targets }}),

problems as (

    select
        source_format,
        statement_id,
        if(is_ambiguous, 'ambiguous name', 'not applied') as problem,
        table_id
    from targets
    where is_ambiguous or change = 'not_applied'

    union all

    select
        changes.source_format,
        changes.statement_id,
        'not applied' as problem,
        null as table_id
    from changes
    where changes.change = 'not_applied' and changes.table_name is null

    union all

    select
        changes.source_format,
        changes.statement_id,
        'unknown table' as problem,
        tables.table_id
    from changes
    inner join tables
        on
            changes.source_format = tables.source_format
            and lower(changes.table_name) = lower(tables.table_name)
    left anti join targets
        on {{ matches(
            'changes',
            'targets',
            ['source_format', 'statement_id', 'change_index'],
        ) }}

),

validation_errors as (

    select
        changes.source_format,
        changes.statement_id,
        any_value(changes.database_name) as database_name,
        any_value(changes.source_op) as source_op,
        any_value(changes.ddl_text) as ddl_text,
        array_sort(collect_set(problems.problem)) as problems,
        array_sort(collect_set(problems.table_id)) as tables,
        min(changes.event_at) as event_at
    from problems
    inner join changes
        on {{ matches(
            'problems', 'changes', ['source_format', 'statement_id']
        ) }}
    group by changes.source_format, changes.statement_id

)

select * from validation_errors

{% endtest %}
