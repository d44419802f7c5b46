{#- What to set for a topic whose images look swapped as they are read now. -#}
{% macro swapped_topic_advice(settings) -%}
{%- set time_format = "yyyy-MM-dd'T'HH:mm:ss'Z'" -%}
{%- set read_as_usual -%}
concat(
    'its updates are swapped: set `swapped_canal_topics: {', topic, ': null}`,',
    ' or the time after ', date_format(last_event_at, "{{ time_format }}"),
    ' from which they are as usual'
)
{%- endset -%}
{%- if not settings -%}
{{ read_as_usual }}
{%- else -%}
case
    {% for topic, until in settings.items() -%}
    when
        topic = {{ adapter.string_literal(topic) }}
        {%- if until is not none %}
        and first_event_at < cast({{ adapter.string_literal(until) }} as timestamp)
        {%- endif %}
        then concat(
            'its updates are as usual: set `swapped_canal_topics: {', topic, ': "',
            date_format(first_event_at, "{{ time_format }}"),
            '"}`, or take it out if they always were'
        )
    {% endfor -%}
    else {{ read_as_usual }}
end
{%- endif -%}
{%- endmacro %}
