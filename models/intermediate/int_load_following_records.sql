-- The staging records of the formats in which a change follows the row of a
-- full load that stands before it in its partition.
{{ union_of_staging(formats_that('follows_loads')) }}
