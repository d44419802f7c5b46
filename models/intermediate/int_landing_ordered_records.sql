-- The records of the formats that are ordered by landing, as staging has them.
{{ union_of_staging(formats_that('ordered_by_landing')) }}
