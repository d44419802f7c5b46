with

run_results as (select * from {{ source('landing', 'run_results') }}),

runs as (

    select
        run_id,
        command,
        selected,
        is_full_refresh,
        target_name,
        outcome,
        size(filter(nodes, node -> node.status = 'warn')) as warning_count,
        transform(
            filter(
                nodes,
                node -> node.status in ({{ failed_statuses() }})
            ),
            node -> node.node_name
        ) as failed_nodes,
        (unix_millis(ended_at) - unix_millis(started_at)) / 1000 as seconds,
        started_at,
        ended_at,
        versions
    from run_results

)

select * from runs
