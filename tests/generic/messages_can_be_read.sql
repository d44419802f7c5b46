{#-
  No topic has more rejected messages than `accepted_rejects` allows.  A
  rejected message is not in the marts until `cdc-marts requeue` can read it.

  runs: the runs so far; they show which messages landed since the last run of
  this target.
  accepted: topic -> the number of rejected messages that somebody has looked
  at, 0 for other topics.
-#}
{% test messages_can_be_read(model, runs, accepted) %}

{{ config(severity='warn') }}

with

rejected_messages as (select * from {{ model }}),

runs as (select * from {{ runs }}),

-- A build tests what it has read itself, a test what the last run had read.
run_before as (

    select started_at from runs
    where
        command in ('run', 'build', 'retry')
        and target_name = {{ dbt.string_literal(
            dbt.escape_single_quotes(target.name)
        ) }}
    order by started_at desc
    limit 1
    offset {{ 1 if flags.WHICH == 'test' else 0 }}

),

rejects as (

    select
        source_format,
        topic,
        reject_code,
        count(*) as message_count,
        count_if(landed_at >= (select started_at from run_before))
            as new_message_count,
        max(landed_at) as last_landed_at
    from rejected_messages
    group by source_format, topic, reject_code

),

rejects_of_topics as (

    select
        *,
        sum(message_count) over (partition by source_format, topic)
            as topic_message_count
    from rejects

),

validation_errors as (

    select
        source_format,
        topic,
        reject_code,
        message_count,
        if(exists(select 1 from run_before), new_message_count, null)
            as new_message_count,
        last_landed_at
    from rejects_of_topics
    where topic_message_count > {{ accepted_count('topic', accepted) }}

)

select * from validation_errors

{% endtest %}
