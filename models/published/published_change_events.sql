{{
    config(
        alias='change_events',
        enabled='change_events' in var('published_marts'),
    )
}}

{{ published_mart('change_events', 'event') }}
