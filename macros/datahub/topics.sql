{#- Before a run: checks the var `datahub_topics`. -#}
{% macro check_datahub_topics() -%}
  {%- do adapter.call_function(
      'cdc_marts.formats.datahub_tuple:check_topics', var('datahub_topics')
  ) -%}
{%- endmacro %}


{#- topic -> {database, dialect}: the settings of the project. -#}
{% macro declared_datahub_topics() -%}
  {%- do return(config.get('datahub_topics') or {}) -%}
{%- endmacro %}


{#- The property of a staging table that stores the settings of its topics. -#}
{% macro datahub_topics_property() -%}
cdc_marts.datahub-topics
{%- endmacro %}


{#- The changed topics that have rows in the staging table. -#}
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


{#- The settings of a topic in words. -#}
{% macro datahub_topic_text(settings) -%}
{%- for name, value in (settings or {}).items() -%}
{{ name }} {{ value }}{{ " and " if not loop.last }}
{%- else -%}
not set
{%- endfor -%}
{%- endmacro %}
