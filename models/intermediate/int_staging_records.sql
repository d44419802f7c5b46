-- The union of the staging records of all formats.
{{ union_of_staging(var('source_formats') | list) }}
