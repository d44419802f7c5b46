{#- dbt itself prints only how many rows the test found. -#}
{% macro print_rejects(results) -%}
  {%- for result in results
      if execute
      and result.status in ['warn', 'fail']
      and result.node.test_metadata is defined
      and result.node.test_metadata.name == 'messages_can_be_read' -%}
    {%- set topics = run_query(
        rejects_per_topic_sql(result.node.compiled_code)
    ).rows -%}
    {%- do log('\nMessages that could not be read:', info=true) -%}
    {%- for row in topics[:20] -%}
      {%- do log('  ' ~ adapter.call_function(
          'cdc_marts.printing:printable', row.line
      ), info=true) -%}
    {%- endfor -%}
    {%- if topics | length > 20 -%}
      {%- do log(
          '  … and ' ~ (topics | length - 20) ~ ' more topics', info=true
      ) -%}
    {%- endif -%}
    {%- do log(
        'See '
        ~ graph.nodes[result.node.attached_node].relation_name
        ~ ' for the messages and reasons. To accept them, enter their number'
        ~ ' in `accepted_rejects`.\n',
        info=true
    ) -%}
  {%- endfor -%}
{%- endmacro %}


{% macro rejects_per_topic_sql(rejects) -%}
with

rejects as (
    {{ rejects }}
),

rejects_per_topic as (

    select
        concat(
            topic,
            ' (',
            source_format,
            '): ',
            sum(message_count),
            if(
                sum(new_message_count) > 0,
                concat(
                    ', ',
                    sum(new_message_count),
                    ' of them since the last run'
                ),
                ''
            ),
            ': ',
            array_join(
                transform(
                    array_sort(
                        collect_list(struct(-message_count, reject_code))
                    ),
                    reject -> concat(-reject.col1, ' ', reject.reject_code)
                ),
                ', '
            )
        ) as line,
        sum(message_count) as message_count
    from rejects
    group by source_format, topic

)

select line from rejects_per_topic
order by message_count desc, line
{%- endmacro %}
