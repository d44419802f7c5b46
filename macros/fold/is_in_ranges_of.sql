{#-
  Condition on records, or with other columns on what was made of them: in a
  partition and between the offsets of the messages that a query finds, which is
  asked first, so that files outside are not read; true where there are many
  partitions, or where nothing may be asked.

  messages: query or relation with `topic`, `partition`, `offset`.
  topic, partition, offset: columns.  last_offset: none where what follows the
  messages is meant too.
-#}
{% macro is_in_ranges_of(
    messages,
    topic='topic',
    partition='`partition`',
    offset='offset',
    last_offset='max(offset)',
    most=200
) -%}
  {%- if not is_being_written() -%}
    {%- do return('true') -%}
  {%- endif -%}
  {%- set question -%}
    select
        topic,
        `partition`,
        min(offset),
        {{ last_offset or 'null' }}
    from {{ messages }}
    group by topic, `partition`
    limit {{ most + 1 }}
  {%- endset -%}
  {%- set ranges = run_query(question).rows -%}
  {%- if ranges | length > most -%}
    {%- do return('true') -%}
  {%- endif -%}
  {%- set conditions = [] -%}
  {%- for topic_name, partition_number, first, last in ranges -%}
    {%- do conditions.append(
        '(' ~ topic ~ ' = ' ~ adapter.string_literal(topic_name)
        ~ ' and ' ~ partition ~ ' = ' ~ partition_number
        ~ ' and ' ~ offset ~ ' >= ' ~ first
        ~ (' and ' ~ offset ~ ' <= ' ~ last if last is not none else '')
        ~ ')'
    ) -%}
  {%- endfor -%}
  {%- do return('(' ~ (conditions | join(' or ') or 'false') ~ ')') -%}
{%- endmacro %}
