{#-
  Every statement is applied to the rows of its tables.  What no message can
  replay (RENAME TABLE, TRUNCATE PARTITION, a rollback of published rows), a name
  that fits several tables, and one of a table that is known in another database
  or schema only are listed, with the tables to look at, or to reload.

  `tables`: the tables whose rows were seen.  `targets`: those that the statements
  are about.
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
