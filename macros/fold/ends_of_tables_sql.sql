{#- Query of the ends of each table as one array, for `count_ends_before`. -#}
{% macro ends_of_tables_sql() -%}
select
    source_format,
    table_id,
    array_sort(collect_list(struct(sequence, event_at))) as ends
from {{ ref('int_table_ends') }}
where sequence is not null
group by source_format, table_id
{%- endmacro %}
