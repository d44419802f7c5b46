-- Every format's staging records in one shape.
{{ union_of_staging(var('source_formats') | list) }}
