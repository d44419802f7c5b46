{#-
  The number of the commit that landed a message.  It is part of the row lineage
  of Iceberg tables of version 3, and compaction keeps it.  Null if the landing
  table records no commits, because it is of another kind.  Null with `--empty`
  too, because dbt then gives a query in place of the table.
-#}
{% macro landing_commit(landing_table) -%}
{%- if landing_table.limit is none and knows_landing_commits(landing_table) -%}
_last_updated_sequence_number
{%- else -%}
cast(null as bigint)
{%- endif -%}
{%- endmacro %}
