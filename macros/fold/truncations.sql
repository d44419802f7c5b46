{#- Sequences compare across partitions. -#}
{% macro is_truncated_by(event, truncation, sequence='sequence') -%}
{{ event }}.{{ sequence }} < {{ truncation }}.sequence
{%- endmacro %}


{% macro since_truncations_sql(events, truncations) -%}
select events.*
from {{ events }} as events
left anti join {{ truncations }} as truncations
    on
        {{ matches('events', 'truncations', columns_of_table()) }}
        and {{ is_truncated_by('events', 'truncations') }}
{%- endmacro %}


{% macro truncations_of_tables_sql(truncations) -%}
select
    source_format,
    table_id,
    array_sort(collect_list(struct(sequence, event_at))) as truncations
from {{ truncations }}
where sequence is not null
group by source_format, table_id
{%- endmacro %}


{% macro last_truncations_of_tables_sql(truncations) -%}
select
    source_format,
    table_id,
    max(sequence) as sequence
from {{ truncations }}
group by source_format, table_id
{%- endmacro %}


{#-
  A table may have thousands of truncations, so the event is not compared with
  each of them: a binary search finds the number, from its highest bit down.
-#}
{% macro count_truncations_before(event, truncations) -%}
if(
            {{ truncations }} is null,
            0,
            aggregate(
                sequence(length(bin(size({{ truncations }}))) - 1, 0, -1),
                0,
                (found, exponent) -> if(
                    not {{ is_truncated_by(
                        event,
                        'get(' ~ truncations
                        ~ ', found + shiftleft(1, exponent) - 1)',
                    ) }},
                    found + shiftleft(1, exponent),
                    found
                )
            )
        )
{%- endmacro %}
