{#-
  Condition that a TRUNCATE or DROP TABLE comes after an event of its table.
  Sequences compare across partitions.  The condition is null if the statement
  was later found to refer to another table.
-#}
{% macro is_truncated_by(event, truncation, sequence='sequence') -%}
{{ event }}.{{ sequence }} < {{ truncation }}.sequence
{%- endmacro %}


{#-
  The rows of a relation that come after all truncations of their table.

  events: relation with a `sequence`, such as events or effects.
  truncations: relation with the columns of `int_truncations`.
-#}
{% macro since_truncations_sql(events, truncations) -%}
select events.*
from {{ events }} as events
left anti join {{ truncations }} as truncations
    on
        {{ matches('events', 'truncations', columns_of_table()) }}
        and {{ is_truncated_by('events', 'truncations') }}
{%- endmacro %}


{#-
  The truncations of each table as one array in the order of their sequences,
  for `count_truncations_before`.

  truncations: relation with the columns of `int_truncations`.
-#}
{% macro truncations_of_tables_sql(truncations) -%}
select
    source_format,
    table_id,
    array_sort(collect_list(struct(sequence, event_at))) as truncations
from {{ truncations }}
where sequence is not null
group by source_format, table_id
{%- endmacro %}


{#-
  The newest truncation of each table.  Its `sequence` is null if all statements
  were later found to refer to other tables.

  truncations: relation with the columns of `int_truncations`.
-#}
{% macro last_truncations_of_tables_sql(truncations) -%}
select
    source_format,
    table_id,
    max(sequence) as sequence
from {{ truncations }}
group by source_format, table_id
{%- endmacro %}


{#-
  The number of truncations of its table that come before an event.  If two
  events of a table have different numbers, a truncation is between them.  A
  table may have thousands of truncations, so the event is not compared with
  each of them: a binary search finds the number, from its highest bit down.

  event: alias with `sequence`.
  truncations: array of struct<sequence, event_at> in the order of their
  sequences, null if there are none.
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
