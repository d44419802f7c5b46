{{
    config(
        alias='latest_state',
        enabled='latest_state' in var('published_marts'),
    )
}}

{{ published_mart('latest_state', 'key') }}
