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
where {{ lacks_columns() }}
{%- endmacro %}


{#-
  Whether `partial_tables_sql` finds any.  Where there is no such event, the
  files' own bounds tell.
-#}
{% macro has_partial_tables(touched) -%}
  {%- set may_be_partial -%}
  select * from {{ ref('int_row_effects') }} where {{ lacks_columns() }}
  {%- endset -%}
  {%- do return(
      finds_rows(may_be_partial) and finds_rows(partial_tables_sql(touched))
  ) -%}
{%- endmacro %}


{#- Whether an effect's row was not carried whole by its event. -#}
{% macro lacks_columns() -%}
is_partial and effect = 'upsert' and not is_keyless
{%- endmacro %}
