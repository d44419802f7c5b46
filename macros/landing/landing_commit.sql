{#-
  The number of the commit that landed a message.  It is part of the row lineage
  of Iceberg tables of version 3, and compaction keeps it.  Null if the landing
  table is of another kind, and records no commits.
-#}
{% macro landing_commit(landing_table) -%}
{%- if knows_landing_commits(landing_table) -%}
_last_updated_sequence_number
{%- else -%}
cast(null as bigint)
{%- endif -%}
{%- endmacro %}
