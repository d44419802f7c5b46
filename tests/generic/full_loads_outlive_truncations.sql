{#-
  No TRUNCATE or DROP TABLE ends rows of a full load that landed after it.  If
  the rows of a full load have no log position, they come before the stream, and
  before all statements in it.  So the load of a table whose name was truncated
  or dropped earlier has no rows.  If such a load repeats the rows of an earlier
  one, they look like redeliveries; they count here if they stand behind the
  statement in its partition.  A warning names the tables; `cdc-marts resync`
  repairs them.

  model: the records, as in `int_records`.  exceptions: the exceptional records,
  as in `int_exceptional_records`.  truncations: as `int_truncations`.
-#}
{% test full_loads_outlive_truncations(model, exceptions, truncations) %}

{{ config(severity='warn') }}

with

records as (

    select
        *,
        {{ is_of_format_that('numbers_no_loads') }} as numbers_no_loads
    from {{ model }}

),

redeliveries as (

    select * from {{ exceptions }}
    where exception = 'redelivery'

),

last_truncations as (

    select
        source_format,
        table_id,
        max(sequence) as sequence,
        max_by(struct(topic, source_op), sequence) as statement
    from {{ truncations }}
    where not {{ is_of_format_that('ordered_by_landing') }}
    group by source_format, table_id

),

statements as (

    select
        source_format,
        table_id,
        sequence,
        statement.topic,
        sequence.`partition`,
        sequence.offset
    from last_truncations
    where statement.source_op <> 'RESYNC'

),

landed_statements as (

    select
        statements.*,
        records.landing_commit
    from statements
    inner join records
        on
            {{ matches('statements', 'records', columns_of_message()) }}
            and records.record_type in ('ddl', 'transaction')

),

loaded_rows as (

    select
        records.*,
        redeliveries.event_id is not null as is_redelivery
    from records
    left join redeliveries
        on {{ is_same_record('records', 'redeliveries') }}
    where
        records.record_type = 'change'
        and records.op = 'snapshot'
        and coalesce(records.message_position, -1) = -1

),

validation_errors as (

    select
        loaded_rows.source_format,
        loaded_rows.table_id,
        loaded_rows.topic,
        count(*) as loaded_rows,
        max(loaded_rows.landed_at) as last_landed_at
    from loaded_rows
    inner join landed_statements as statements
        on
            {{ matches('loaded_rows', 'statements', columns_of_table()) }}
            and {{ is_truncated_by('loaded_rows', 'statements') }}
            and if(
                loaded_rows.topic = statements.topic
                and loaded_rows.`partition` = statements.`partition`,
                loaded_rows.offset > statements.offset
                and (
                    not loaded_rows.is_redelivery
                    or loaded_rows.numbers_no_loads
                ),
                loaded_rows.landing_commit > statements.landing_commit
                and not loaded_rows.is_redelivery
            )
    group by
        loaded_rows.source_format,
        loaded_rows.table_id,
        loaded_rows.topic

)

select * from validation_errors

{% endtest %}
