{#-
  Query of the tables, among those of `touched` effects, with partial images:
  events that carried columns without a value, or that left out columns.
-#}
{% macro partial_tables_sql(touched) -%}
select distinct
    partial_tables.source_format,
    partial_tables.table_id
from ({{ tables_of_partial_images_sql() }}) as partial_tables
left semi join {{ touched }} as touched
    on {{ matches('partial_tables', 'touched', ['source_format', 'table_id']) }}
{%- endmacro %}


{#-
  Whether `partial_tables_sql` finds any.  Where there is no such event, the
  files' own bounds tell.
-#}
{% macro has_partial_tables(touched) -%}
  {%- do return(
      finds_rows(tables_of_partial_images_sql())
      and finds_rows(partial_tables_sql(touched))
  ) -%}
{%- endmacro %}


{% macro tables_of_partial_images_sql() -%}
select
    source_format,
    table_id
from {{ ref('int_valid_effects') }}
where is_partial and effect = 'upsert' and not is_keyless

union all

select
    source_format,
    table_id
from {{ ref('int_missing_columns') }}
{%- endmacro %}


{#-
  Query of the effects on rows of keyed tables, `is_partial` also where an image
  left out columns that its table had.

  of_keys: relation of the tables, or of the keys, whose effects are asked for.
  columns: those that identify them.
-#}
{% macro effects_by_image_sql(of_keys, columns) -%}
select
    effects.* except (is_partial),
    effects.is_partial or (
        effects.effect = 'upsert' and missing.schema_id is not null
    ) as is_partial
from {{ ref('int_valid_effects') }} as effects
left semi join {{ of_keys }} as of_keys
    on {{ matches('effects', 'of_keys', columns) }}
left join {{ ref('int_missing_columns') }} as missing
    on {{ lacks_columns_of('effects', 'missing') }}
where effects.effect in ('upsert', 'removal') and not effects.is_keyless
{%- endmacro %}
