{{
    config(
        alias='message_ledger',
        enabled='message_ledger' in var('published_marts'),
    )
}}

{{ published_mart('message_ledger', 'whole') }}
