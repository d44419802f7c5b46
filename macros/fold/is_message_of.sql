{#-
  Condition on records: of the messages that a query finds, which is asked
  first, so that files without them are not read; true where they are many, or
  where nothing may be asked.

  messages: query of `topic`, `partition`, `offset`.
-#}
{% macro is_message_of(messages, most=200) -%}
  {%- if not is_being_written() -%}
    {%- do return('true') -%}
  {%- endif -%}
  {%- set found = run_query(
      'select * from (' ~ messages ~ ') limit ' ~ (most + 1)
  ).rows -%}
  {%- if found | length > most -%}
    {%- do return('true') -%}
  {%- endif -%}
  {%- set conditions = [] -%}
  {%- for topic, partition, offset in found -%}
    {%- do conditions.append(
        '(topic = ' ~ adapter.string_literal(topic)
        ~ ' and `partition` = ' ~ partition ~ ' and offset = ' ~ offset ~ ')'
    ) -%}
  {%- endfor -%}
  {%- do return('(' ~ (conditions | join(' or ') or 'false') ~ ')') -%}
{%- endmacro %}
