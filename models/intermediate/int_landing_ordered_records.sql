-- The staging records of the formats that are ordered by landing.
{{ union_of_staging(formats_that('ordered_by_landing')) }}
