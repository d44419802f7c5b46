-- The staging records of the formats in which earlier messages of a partition
-- may raise the position of a message.
{{ union_of_staging(
    formats_that('ordered_by_landing') + formats_that('follows_loads')
) }}
