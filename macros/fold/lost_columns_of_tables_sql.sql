{% macro lost_columns_of_tables_sql(lost_columns) -%}
select
    source_format,
    table_id,
    array_sort(collect_list(struct(column_name, sequence))) as lost_columns
from {{ lost_columns }}
group by source_format, table_id
{%- endmacro %}
