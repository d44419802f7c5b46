-- Every format's staging records in one shape, each in its place.
{%- set has_raised_positions = (
    has_rows(ref('int_highest_positions'))
    and finds_rows('select * from ' ~ ref('int_raised_positions'))
) %}
{{ union_of_staging(
    var('source_formats') | list,
    ref('int_raised_positions') if has_raised_positions else none
) }}
