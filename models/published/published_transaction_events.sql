{{
    config(
        alias='transaction_events',
        enabled='transaction_events' in var('published_marts'),
    )
}}

{{ published_mart('transaction_events', 'message') }}
