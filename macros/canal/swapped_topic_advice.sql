{#- What to set for a topic whose images look swapped as they are read now. -#}
{% macro swapped_topic_advice(settings) -%}
case
    {% for topic, until in settings.items() -%}
    when
        topic = {{ adapter.string_literal(topic) }}
        {%- if until is not none %}
        and first_event_at < cast({{ adapter.string_literal(until) }} as timestamp)
        {%- endif %}
        then concat(
            'its updates are as usual: take it out of `swapped_canal_topics`, or end it there: {',
            topic, ': "', date_format(first_event_at, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"), '"}'
        )
    {% endfor -%}
    else concat(
        'its updates are swapped: set `swapped_canal_topics: {',
        topic, ': null}`, or the time of the first one after ',
        date_format(last_event_at, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"),
        ' that is as usual'
    )
end
{%- endmacro %}
