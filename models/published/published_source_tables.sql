{{
    config(
        alias='source_tables',
        enabled='source_tables' in var('published_marts'),
    )
}}

{{ published_mart('source_tables', 'whole') }}
