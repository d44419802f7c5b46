{{
    config(
        alias='ddl_events',
        enabled='ddl_events' in var('published_marts'),
    )
}}

{{ published_mart('ddl_events', 'whole') }}
