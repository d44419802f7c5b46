-- The staging records of the formats that publish transactions in the order of
-- their commits.
{{ union_of_staging(formats_that('published_by_commit')) }}
