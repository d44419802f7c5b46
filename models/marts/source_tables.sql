with

events as (select * from {{ ref('change_events') }}),

table_schemas as (select * from {{ ref('int_table_schemas') }}),

lost_columns as (select * from {{ ref('int_lost_columns') }}),

columns_seen as (

    select
        source_format,
        table_id,
        column_name,
        max_by(column_types[column_name], last_sequence) filter (
            where column_types[column_name] is not null
        ) as column_type,
        max(last_sequence) as last_sequence
    from table_schemas
        lateral view explode(column_names) as column_name
    group by source_format, table_id, column_name

),

current_columns as (

    select columns_seen.*
    from columns_seen
    left anti join lost_columns
        on
            {{ matches(
                'columns_seen',
                'lost_columns',
                columns_of_table() + ['column_name'],
            ) }}
            and columns_seen.last_sequence < lost_columns.sequence

),

table_columns as (

    select
        source_format,
        table_id,
        map_from_entries(
            array_sort(collect_list(struct(column_name, column_type)))
        ) as column_types
    from current_columns
    group by source_format, table_id

),

-- Canal JSON does not name the kind of database, but types show it.  A message
-- with few columns shows less than one with many.
kinds as (

    select
        source_format,
        table_id,
        max_by(
            source_type, struct(size(column_names), last_sequence)
        ) as source_type
    from table_schemas
    where source_format = 'canal_json' and source_type is not null
    group by source_format, table_id

),

table_events as (

    select
        source_format,
        table_id,
        max_by(source_type, sequence) as source_type,
        max_by(database_name, sequence) as database_name,
        max_by(schema_name, sequence) as schema_name,
        max_by(table_name, sequence) as table_name,
        max_by(key_columns, sequence) as key_columns,
        collect_set(topic) as topics,
        count(*) as event_count,
        count_if(op = 'insert') as insert_count,
        count_if(op = 'update') as update_count,
        count_if(op = 'delete') as delete_count,
        count_if(op = 'snapshot') as snapshot_count,
        min(event_at) as first_event_at,
        max(event_at) as last_event_at,
        max(landed_at) as last_landed_at
    from events
    group by source_format, table_id

),

source_tables as (

    select
        table_events.source_format,
        table_events.table_id,
        coalesce(kinds.source_type, table_events.source_type) as source_type,
        table_events.database_name,
        table_events.schema_name,
        table_events.table_name,
        table_events.key_columns,
        table_columns.column_types,
        table_events.topics,
        table_events.event_count,
        table_events.insert_count,
        table_events.update_count,
        table_events.delete_count,
        table_events.snapshot_count,
        unix_millis(table_events.last_landed_at)
        - unix_millis(table_events.last_event_at) as lag_ms,
        table_events.first_event_at,
        table_events.last_event_at,
        table_events.last_landed_at
    from table_events
    left join table_columns
        on
            table_events.source_format = table_columns.source_format
            and table_events.table_id = table_columns.table_id
    left join kinds
        on
            table_events.source_format = kinds.source_format
            and table_events.table_id = kinds.table_id

)

select * from source_tables
