-- Every format's staging records in one shape, each in its place.
{%- set has_places = (
    has_rows(ref('int_highest_positions'))
    or has_rows(ref('int_reloaded_messages'))
) %}
{%- set places = ref('int_message_places') %}
{%- if not has_places %}
{%- set moved_formats = [] %}
{%- elif is_being_written() %}
{%- set moved_formats = formats_in(places) %}
{%- else %}
{%- set moved_formats = formats_that('ordered_by_landing') %}
{%- endif %}
{{ union_of_staging(
    var('source_formats') | list,
    moved_formats,
    places
) }}
