{#-
  Tuples of DataWorks name no database: topics of two databases may have tables
  of one name, whose rows would overwrite each other.  Found are two topics that
  disagree about a table: about a key that both report, with no image in common
  and no delete between them; or each reports a live row that the other one, of
  the same time, never does.  A topic that replaces another goes on from its
  rows, and one that copies another has the same: both pass.
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

topic_pairs as (

    select
        topics.table_id,
        topics.topic,
        other_topics.topic as other_topic,
        other_topics.first_position as other_first_position,
        other_topics.last_position as other_last_position
    from topics
    inner join topics as other_topics
        on
            topics.table_id = other_topics.table_id
            and topics.topic <> other_topics.topic

),

shared_events as (

    select *
    from events
    left semi join topic_pairs
        on events.table_id = topic_pairs.table_id

),

key_events as (

    select
        table_id,
        topic,
        row_key,
        op,
        sequence,
        to_json(before) as image_before,
        to_json(after) as image_after
    from shared_events

    union all

    -- A row that changed its key left the one that it had.
    select
        table_id,
        topic,
        previous_row_key as row_key,
        'delete' as op,
        sequence,
        to_json(before) as image_before,
        null as image_after
    from shared_events
    where previous_row_key is not null

),

reported_keys as (

    select
        table_id,
        topic,
        row_key,
        min_by(op, sequence) as first_op,
        max_by(op, sequence) = 'delete' as is_deleted,
        min(sequence) as first_sequence,
        max(sequence) as last_sequence,
        array_union(collect_set(image_before), collect_set(image_after))
            as images
    from key_events
    group by table_id, topic, row_key

),

disagreements as (

    select
        topic_pairs.table_id,
        least(topic_pairs.topic, topic_pairs.other_topic) as topic,
        greatest(topic_pairs.topic, topic_pairs.other_topic) as other_topic,
        topic_pairs.topic as reported_by,
        reported.row_key,
        others.row_key is not null as is_in_both
    from topic_pairs
    inner join reported_keys as reported
        on
            topic_pairs.table_id = reported.table_id
            and topic_pairs.topic = reported.topic
    left join reported_keys as others
        on
            topic_pairs.table_id = others.table_id
            and topic_pairs.other_topic = others.topic
            and reported.row_key = others.row_key
    where
        (
            others.row_key is null
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
