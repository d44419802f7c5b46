{{
    config(
        alias='row_history',
        enabled='row_history' in var('published_marts'),
    )
}}

{{ published_mart('row_history', 'version') }}
