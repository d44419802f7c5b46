{#-
  Whether a TRUNCATE or DROP TABLE comes after an event of its table.  Formats
  with a log position order the two by it.  Formats ordered by landing do within
  a partition; between partitions only the time at the source tells.
-#}
{% macro is_ended_by(event, end, sequence='sequence', event_at='event_at') -%}
case
    when
        {{ event }}.source_format in (
            {% for source_format in formats_that('ordered_by_landing') -%}
            '{{ source_format }}'{{ "," if not loop.last }}
            {% endfor -%}
        )
        and (
            {{ event }}.topic <> {{ end }}.topic
            or {{ event }}.{{ sequence }}.`partition`
            <> {{ end }}.sequence.`partition`
        )
        then {{ event }}.{{ event_at }} < {{ end }}.event_at
    else {{ event }}.{{ sequence }} < {{ end }}.sequence
end
{%- endmacro %}
