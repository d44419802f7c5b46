{{
    config(
        alias='quarantined_messages',
        enabled='quarantined_messages' in var('published_marts'),
    )
}}

{{ published_mart('quarantined_messages', 'message') }}
