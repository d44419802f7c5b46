-- Every format's staging records in one shape, each in its place.
{%- set highest_positions = ref('int_highest_positions') %}
{%- set reloaded_messages = ref('int_reloaded_messages') %}
{%- set places = ref('int_message_places') %}
{%- set raised_messages -%}
select * from {{ highest_positions }} where is_raised
{%- endset %}
{%- if not (has_rows(highest_positions) or has_rows(reloaded_messages)) %}
{%- set moved_formats = [] %}
{%- elif not is_being_written() %}
{%- set moved_formats = formats_that('ordered_by_landing') %}
{%- elif has_rows(reloaded_messages) or finds_rows(raised_messages) %}
{%- set moved_formats = formats_in(places) %}
{%- else %}
{%- set moved_formats = [] %}
{%- endif %}
{{ union_of_staging(
    var('source_formats') | list,
    moved_formats,
    places
) }}
