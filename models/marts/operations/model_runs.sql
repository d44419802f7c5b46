with

run_results as (select * from {{ source('landing', 'run_results') }}),

node_results as (

    select
        run_id,
        started_at as run_started_at,
        explode(nodes) as node
    from run_results

),

model_runs as (

    select
        run_id,
        node.*,
        run_started_at
    from node_results

)

select * from model_runs
