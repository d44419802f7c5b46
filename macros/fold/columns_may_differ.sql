{#-
  Whether any table may have lost a column, or an image lack one: it has several
  schema versions, or a statement dropped a column.
-#}
{% macro columns_may_differ() -%}
  {%- set several_versions -%}
  select true
  from {{ ref('int_table_schemas') }}
  where not {{ has_sparse_rows() }}
  group by source_format, table_id
  having count(*) > 1
  {%- endset -%}
  {%- do return(
      finds_rows('select * from ' ~ ref('int_column_drops'))
      or finds_rows(several_versions)
  ) -%}
{%- endmacro %}
