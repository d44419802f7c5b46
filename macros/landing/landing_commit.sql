{#-
  Number of the commit that landed a message: row lineage of Iceberg tables from
  version 3 on, which compaction keeps.  Null where somebody lands another way.
-#}
{% macro landing_commit(landing_table) -%}
{%- if knows_landing_commits(landing_table) -%}
_last_updated_sequence_number
{%- else -%}
cast(null as bigint)
{%- endif -%}
{%- endmacro %}
