{#-
  Checks the var `datahub_topics`.  It maps each topic to the database of its
  tables, to the dialect of its tuples, or to both.
-#}
{% macro check_datahub_topics() -%}
  {%- set topics = var('datahub_topics') or {} -%}
  {%- if topics is not mapping -%}
    {%- do wrong_datahub_topics(
        'it is not a mapping: write {my_project.my_topic: {database: my_database}}'
    ) -%}
  {%- endif -%}
  {%- for topic, settings in topics.items() -%}
    {%- if settings is not mapping
        or settings.keys() | reject('in', ['database', 'dialect']) | list -%}
      {%- do wrong_datahub_topics(
          'the topic `' ~ topic ~ '` has ' ~ settings
          ~ '; its settings are `database` and `dialect`'
      ) -%}
    {%- endif -%}
    {%- set database = settings.get('database', 'its own') -%}
    {%- if database is not string or not database -%}
      {%- do wrong_datahub_topics(
          'the database of the topic `' ~ topic ~ '` is no name: ' ~ database
      ) -%}
    {%- endif -%}
    {%- set dialects = ['dataworks', 'dts_old', 'dts_new'] -%}
    {%- if settings.get('dialect', dialects[0]) not in dialects -%}
      {%- do wrong_datahub_topics(
          'the dialect of the topic `' ~ topic ~ '` is none of '
          ~ dialects | join(', ') ~ ': ' ~ settings.dialect
      ) -%}
    {%- endif -%}
  {%- endfor -%}
{%- endmacro %}


{% macro wrong_datahub_topics(problem) -%}
  {%- do exceptions.raise_compiler_error(
      'In `vars: datahub_topics` of dbt_project.yml: ' ~ problem ~ '.'
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
