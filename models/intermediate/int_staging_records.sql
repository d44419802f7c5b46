-- The staging records of all formats in one shape, as their messages have them.
{{ union_of_staging(var('source_formats') | list) }}
