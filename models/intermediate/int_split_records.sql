-- The staging records of the formats that may report an update in two halves.
{{ union_of_staging(formats_that('splits_updates')) }}
