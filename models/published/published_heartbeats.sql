{{
    config(
        alias='heartbeats',
        enabled='heartbeats' in var('published_marts'),
    )
}}

{{ published_mart('heartbeats', 'message') }}
