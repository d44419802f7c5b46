-- Every format's staging records in one shape, each in its place.
{%- set highest_positions = ref('int_highest_positions') %}
{%- set reloaded_messages = ref('int_reloaded_messages') %}
{%- set places = ref('int_message_places') %}
{%- set has_places = (
    has_rows(highest_positions) or has_rows(reloaded_messages)
) %}
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
