{#-
  The open versions of the history are the rows of the state, one each.

  `state`: with the columns of `latest_state`.
-#}
{% test history_equals_state(model, state) %}

with

open_versions as (

    select * from {{ model }}
    where is_current

),

state as (select * from {{ state }}),

validation_errors as (

    select
        coalesce(state.source_format, versions.source_format) as source_format,
        coalesce(state.table_id, versions.table_id) as table_id,
        coalesce(state.row_key, versions.row_key) as row_key,
        to_json(state.`row`) as state_row,
        to_json(versions.`row`) as open_row,
        state.row_count as state_count,
        versions.row_count as open_count
    from open_versions as versions
    full outer join state
        on
            versions.source_format = state.source_format
            and versions.table_id = state.table_id
            and versions.row_key = state.row_key
    where
        not (
            to_json(state.`row`) <=> to_json(versions.`row`)
            and state.row_count <=> versions.row_count
        )

)

select * from validation_errors

{% endtest %}
