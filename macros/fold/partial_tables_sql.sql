{#-
  Query of the tables, among those of `touched` effects, with events that did
  not carry all columns.
-#}
{% macro partial_tables_sql(touched) -%}
select distinct
    source_format,
    table_id
from {{ ref('int_row_effects') }} as effects
left semi join {{ touched }} as touched
    on {{ matches('effects', 'touched', ['source_format', 'table_id']) }}
where is_partial and effect = 'upsert' and not is_keyless
{%- endmacro %}
