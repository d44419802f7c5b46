{% macro swapped_topic_advice() -%}
{%- set time_format = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'" -%}
concat(
    case
        when last_swapped_at is null
            then 'its updates are not swapped: remove the topic from '
                || '`swapped_canal_topics`'
        when usual_from is null
            then concat(
                'its updates are swapped: set `swapped_canal_topics: {"',
                topic, '": null}`'
            )
        else concat(
            'its updates are swapped until ',
            date_format(last_swapped_at, "{{ time_format }}"),
            ' and not swapped from ',
            date_format(usual_from, "{{ time_format }}"),
            ' on: set `swapped_canal_topics: {"',
            topic, '": "', date_format(usual_from, "{{ time_format }}"),
            '"}`, or the time of the restart, which was between the two'
        )
    end,
    '; then read its messages again: dbt run --full-refresh --select',
    ' stg_canal_json+'
)
{%- endmacro %}
