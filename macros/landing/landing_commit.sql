{#-
  The number is part of the row lineage of Iceberg tables of version 3, and
  compaction keeps it.  With `--empty`, dbt gives a query in place of the
  table.
-#}
{% macro landing_commit(landing_table) -%}
{%- if landing_table.limit is none and knows_landing_commits(landing_table) -%}
_last_updated_sequence_number
{%- else -%}
cast(null as bigint)
{%- endif -%}
{%- endmacro %}
