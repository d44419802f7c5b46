{#-
  The truncations of each table as one array, for `count_truncations_before`.
-#}
{% macro truncations_of_tables_sql() -%}
select
    source_format,
    table_id,
    array_sort(collect_list(struct(sequence, event_at))) as truncations
from {{ ref('int_truncations') }}
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
