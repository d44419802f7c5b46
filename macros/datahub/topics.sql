{% macro check_datahub_topics() -%}
  {%- do adapter.call_function(
      'cdc_marts.formats.datahub_tuple:check_topics', var('datahub_topics')
  ) -%}
{%- endmacro %}


{% macro datahub_topics_setting() -%}
  {%- set topics = config.get('datahub_topics') -%}
  {%- do return(none if topics is none else {
      'property': 'cdc_marts.datahub-topics',
      'now': topics or {},
      'rows_sql': cdc_marts.datahub_topics_with_rows_sql,
      'error': cdc_marts.datahub_topics_error,
  }) -%}
{%- endmacro %}


{% macro datahub_topics_with_rows_sql(relation, changes) -%}
select distinct topic
from {{ relation }}
where
    record_type in ('change', 'update_before')
    and topic in (
        {%- for topic in changes -%}
        {{ adapter.string_literal(topic) }}{{ ", " if not loop.last }}
        {%- endfor -%}
    )
{%- endmacro %}


{% macro datahub_topics_error(topics, changes) -%}
`datahub_topics` was set differently when the messages of these topics were read:
{%- for topic in topics | sort %}
  {%- set change = changes[topic] %}
  {{ topic }}: {{ datahub_topic_text(change.before) -}}
  , now {{ datahub_topic_text(change.now) }}
{%- endfor %}
Set it as it was, {{ cdc_marts.reread_advice() }}
{%- endmacro %}


{% macro datahub_topic_text(settings) -%}
{%- for name, value in (settings or {}).items() -%}
{{ name }} {{ value }}{{ " and " if not loop.last }}
{%- else -%}
not set
{%- endfor -%}
{%- endmacro %}
