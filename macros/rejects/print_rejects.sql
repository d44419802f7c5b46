{#-
  After a run in which `messages_can_be_read` warned or failed: the rows that it
  found, a line each.  dbt itself says how many there are.
-#}
{% macro print_rejects(results) -%}
  {%- for result in results
      if execute
      and result.status in ['warn', 'fail']
      and result.node.test_metadata is defined
      and result.node.test_metadata.name == 'messages_can_be_read' -%}
    {%- do log('\nMessages that could not be read:', info=true) -%}
    {%- for row in run_query(result.node.compiled_code).rows -%}
      {%- set line = [
          '%s, topic %s: %s %s' % (
              row.source_format,
              row.topic,
              '{:,}'.format(row.message_count | int),
              row.reject_code
          )
      ] -%}
      {%- if row.new_message_count -%}
        {%- set count = '{:,}'.format(row.new_message_count | int) -%}
        {%- do line.append('%s of them new since the last run' % count) -%}
      {%- endif -%}
      {%- set text = line | join(', ') -%}
      {%- do log('  ' ~ adapter.call_function(
          'cdc_marts.printing:printable', text
      ), info=true) -%}
    {%- endfor -%}
    {%- do log(
        'marts.quarantined_messages has them, with the reasons. The var'
        ~ ' `accepted_rejects` says how many of a topic are known.',
        info=true
    ) -%}
  {%- endfor -%}
{%- endmacro %}
