{#- The time must be readable, because it decides how the topic is read. -#}
{% macro check_swapped_topics() -%}
  {%- set topics = var('swapped_canal_topics') or {} -%}
  {%- if topics is not mapping -%}
    {%- do wrong_swapped_topics(
        'it is not a mapping: write {my_topic: null} or {my_topic: "time"}'
    ) -%}
  {%- endif -%}
  {%- for topic, until in topics.items()
      if until is not none and not is_time(until) -%}
    {%- do wrong_swapped_topics(
        'the time of the topic `' ~ topic ~ "` can't be read: " ~ until
        ~ '; write it in UTC and in quotes, such as "2022-05-01T00:00:00Z"'
    ) -%}
  {%- endfor -%}
{%- endmacro %}


{% macro wrong_swapped_topics(problem) -%}
  {%- do exceptions.raise_compiler_error(
      'In `vars: swapped_canal_topics` of dbt_project.yml: ' ~ problem ~ '.'
  ) -%}
{%- endmacro %}


{% macro is_time(value) -%}
  {%- set iso = (
      '\\d{4}-\\d{2}-\\d{2}([T ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{3}(\\d{3})?)?)?'
      ~ '(Z|[+-]\\d{2}:\\d{2})?)?'
  ) -%}
  {%- if value is not string or not modules.re.fullmatch(iso, value) -%}
    {%- do return(false) -%}
  {%- elif not execute -%}
    {%- do return(true) -%}
  {%- endif -%}
  {%- set read = run_query(
      'select try_cast(' ~ adapter.string_literal(value) ~ ' as timestamp)'
  ) -%}
  {%- do return(read.rows[0][0] is not none) -%}
{%- endmacro %}


{% macro declared_swapped_topics(setting) -%}
  {%- set topics = {} -%}
  {%- for topic, until in (setting or {}).items() -%}
    {%- do topics.update({topic: {'until': until}}) -%}
  {%- endfor -%}
  {%- do return(topics) -%}
{%- endmacro %}


{% macro swapped_topics_setting() -%}
  {%- set topics = config.get('swapped_topics') -%}
  {%- do return(none if topics is none else {
      'property': cdc_marts.swapped_topics_property(),
      'now': cdc_marts.declared_swapped_topics(topics),
      'rows_sql': cdc_marts.topics_swapped_otherwise_sql,
      'error': cdc_marts.swapped_topics_error,
  }) -%}
{%- endmacro %}


{% macro swapped_topics_property() -%}
cdc_marts.swapped-topics
{%- endmacro %}


{% macro swapped_topics_of(staging) -%}
  {%- if execute and staging and load_relation(staging) is not none -%}
    {%- set kept = adapter.table_property(
        staging, swapped_topics_property()
    ) -%}
    {%- if kept is not none -%}
      {%- do return(fromjson(kept)) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do return(declared_swapped_topics(var('swapped_canal_topics'))) -%}
{%- endmacro %}


{% macro is_read_as_swapped(setting) -%}
{%- if not setting -%}
false
{%- elif setting.until is none -%}
true
{%- else -%}
published_at < cast({{ adapter.string_literal(setting.until) }} as timestamp)
{%- endif -%}
{%- endmacro %}


{% macro topics_swapped_otherwise_sql(relation, changes) -%}
select distinct topic
from {{ relation }}
where
    record_type = 'change'
    and op = 'update'
    and (
        {% for topic, change in changes.items() -%}
        {{ "or " if not loop.first -}}
        (
            topic = {{ adapter.string_literal(topic) }}
            and not (
                ({{ is_read_as_swapped(change.before) }})
                <=> ({{ is_read_as_swapped(change.now) }})
            )
        )
        {% endfor -%}
    )
{%- endmacro %}


{% macro swapped_topics_error(topics, changes) -%}
`swapped_canal_topics` was set differently when the updates of these topics were read:
{%- for topic in topics | sort %}
  {%- set change = changes[topic] %}
  {{ topic }}: {{ swapped_text(change.before) }}, now {{ swapped_text(change.now) }}
{%- endfor %}
Set it as it was, {{ cdc_marts.reread_advice() }}
{%- endmacro %}


{% macro swapped_text(setting) -%}
{%- if not setting -%}
not swapped
{%- elif setting.until is none -%}
swapped
{%- else -%}
swapped until {{ setting.until }}
{%- endif -%}
{%- endmacro %}
