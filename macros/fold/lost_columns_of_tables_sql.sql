{#- The columns that each table lost, as one array. -#}
{% macro lost_columns_of_tables_sql() -%}
select
    source_format,
    table_id,
    array_sort(collect_list(struct(column_name, sequence))) as lost_columns
from {{ ref('int_lost_columns') }}
group by source_format, table_id
{%- endmacro %}
