-- The records of the formats that may tell an update in two halves.
{{ union_of_staging(formats_that('splits_updates')) }}
