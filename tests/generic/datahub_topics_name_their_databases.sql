{#-
  Tuples of DataWorks name no database.  So topics of two databases may have
  tables of the same name, whose rows would overwrite each other.  The test
  finds two topics that contradict each other about a table.  Either both report
  a key, with no image in common and no delete in between; or each reports a
  live row that the other one, of the same time, never reports.  A topic that
  replaces another one continues from its rows, and a copy has the same rows:
  both pass.
-#}
{% test datahub_topics_name_their_databases(model) %}

with

events as (

    select
        table_id,
        topic,
        row_key,
        previous_row_key,
        op,
        before,
        after,
        sequence
    from {{ model }}
    where
        source_format = 'datahub_tuple'
        and database_name is null

),

topics as (

    select
        table_id,
        topic,
        min(sequence.position) as first_position,
        max(sequence.position) as last_position
    from events
    group by table_id, topic

),

shared_tables as (

    select
        table_id,
        collect_list(struct(topic, first_position, last_position)) as topics
    from topics
    group by table_id
    having count(*) > 1

),

-- A row that changed its key left the one that it had.
key_events as (

    select
        events.table_id,
        shared_tables.topics,
        events.topic,
        events.sequence,
        to_json(events.before) as image_before,
        inline(array_compact(array(
            struct(
                events.row_key as row_key,
                events.op as op,
                to_json(events.after) as image_after
            ),
            if(
                events.previous_row_key is null,
                null,
                struct(
                    events.previous_row_key as row_key,
                    'delete' as op,
                    cast(null as string) as image_after
                )
            )
        )))
    from events
    inner join shared_tables using (table_id)

),

reported_keys as (

    select
        table_id,
        topic,
        row_key,
        any_value(topics) as topics,
        min_by(op, sequence) as first_op,
        max_by(op, sequence) = 'delete' as is_deleted,
        min(sequence) as first_sequence,
        max(sequence) as last_sequence,
        array_union(collect_set(image_before), collect_set(image_after))
            as images
    from key_events
    group by table_id, topic, row_key

),

reports_of_keys as (

    select
        table_id,
        row_key,
        any_value(topics) as topics,
        map_from_entries(collect_list(struct(
            topic,
            struct(first_op, is_deleted, first_sequence, last_sequence, images)
        ))) as reports
    from reported_keys
    group by table_id, row_key

),

compared_reports as (

    select
        reports_of_keys.table_id,
        reports_of_keys.row_key,
        topics.topic,
        other_topics.topic as other_topic,
        other_topics.first_position as other_first_position,
        other_topics.last_position as other_last_position,
        reports_of_keys.reports[topics.topic] as reported,
        reports_of_keys.reports[other_topics.topic] as others
    from reports_of_keys
    lateral view inline(topics) topics as topic, first_position, last_position
    lateral view inline(topics) other_topics
        as topic, first_position, last_position
    where
        topics.topic <> other_topics.topic
        and map_contains_key(reports_of_keys.reports, topics.topic)

),

disagreements as (

    select
        table_id,
        least(topic, other_topic) as topic,
        greatest(topic, other_topic) as other_topic,
        topic as reported_by,
        row_key,
        others is not null as is_in_both
    from compared_reports
    where
        (
            others is null
            and not reported.is_deleted
            and reported.last_sequence.position >= other_first_position
            and reported.first_sequence.position <= other_last_position
        )
        or (
            not arrays_overlap(reported.images, others.images)
            and not (
                reported.is_deleted
                and others.first_op = 'insert'
                and reported.last_sequence < others.first_sequence
            )
            and not (
                others.is_deleted
                and reported.first_op = 'insert'
                and others.last_sequence < reported.first_sequence
            )
        )

),

validation_errors as (

    select
        table_id,
        topic,
        other_topic,
        min(row_key) as row_key,
        concat(
            'the topics may be of two databases: name them, of one database alike, and',
            ' rebuild: `datahub_topics: {', topic, ': {database: …}, ',
            other_topic, ': {database: …}}`'
        ) as advice
    from disagreements
    group by table_id, topic, other_topic
    having bool_or(is_in_both) or count(distinct reported_by) = 2

)

select * from validation_errors

{% endtest %}
