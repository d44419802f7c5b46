{#-
  Before a staging model is rebuilt, or gets its first rows: with `--empty`, a
  table is built without rows.  `cdc-marts maintain` may have removed
  messages from its landing table (setting `retention`).  Only the staging rows
  still have the content of these messages, so the model keeps these rows.  The
  run stops if they are gone, or if the messages would now be read differently,
  and with `--empty`, which gives the model none of these rows to keep.  This
  also holds for a removal that has noted its messages and was interrupted.
-#}
{% macro check_removed_messages() -%}
  {%- set landing = cdc_marts.landing_relation(
      cdc_marts.format_of_staging()
  ) -%}
  {%- set landing_table = load_relation(landing) -%}
  {%- if has_rows(this) and not var('without_removed_messages', false) -%}
    {%- do cdc_marts.check_former_landing(landing, landing_table) -%}
  {%- endif -%}
  {%- if landing_table is not none and not landing_table.is_view
      and cdc_marts.has_removed_messages(landing_table) -%}
    {%- if var('without_removed_messages', false) -%}
      {%- do cdc_marts.check_other_targets(landing_table) -%}
      {%- do cdc_marts.forget_removed_messages(landing_table) -%}
    {%- else -%}
      {%- do cdc_marts.check_irreplaceable_rows(landing_table) -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{#- Whether messages were removed from a landing table, or noted for that. -#}
{% macro has_removed_messages(landing_table) -%}
  {%- set removed_after = adapter.table_property(
      landing_table, cdc_marts.retention_property()
  ) -%}
  {%- do return(
      removed_after is not none
      or cdc_marts.lists_removed_messages(landing_table)
  ) -%}
{%- endmacro %}


{#-
  Whether `removed_messages`, beside a landing table, has messages of the
  staging model.
-#}
{% macro lists_removed_messages(landing_table) -%}
  {%- set removed_messages = landing_table.incorporate(
      path={'identifier': 'removed_messages'}
  ) -%}
  {%- if not has_rows(removed_messages) -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set listed = run_query(
      'select 1 from ' ~ removed_messages ~ " where source_format = '"
      ~ cdc_marts.format_of_staging() ~ "' limit 1"
  ) -%}
  {%- do return(listed.rows | length > 0) -%}
{%- endmacro %}


{#-
  The property of a landing table from which messages were removed.  It holds
  the lowest age, in days, at which they were removed.
-#}
{% macro retention_property() -%}
cdc_marts.removed-after-days
{%- endmacro %}


{% macro format_of_staging() -%}
{{ model.name | replace('stg_', '', 1) }}
{%- endmacro %}


{#-
  It is an error if the staging table has read another landing table, in the
  former `landing_schema`, and messages were removed from that one, or from the
  present one: nothing has the content of all of them.  If the former one is
  gone, the setting `retention` means that messages may have been removed.

  landing_table: the present one, or none if this run has created it.
-#}
{% macro check_former_landing(landing, landing_table) -%}
  {%- set schema = adapter.call_with_session(
      'cdc_marts.operations.former_landing:former_landing_schema',
      landing.render(),
      this.render()
  ) -%}
  {%- if schema is not none -%}
    {%- set former = landing.incorporate(path={'schema': schema}) -%}
    {%- set former_table = load_relation(former) -%}
    {%- if landing_table is not none and not landing_table.is_view
        and cdc_marts.has_removed_messages(landing_table) -%}
      {%- do cdc_marts.check_other_targets(landing_table) -%}
      {%- do exceptions.raise_compiler_error(
          cdc_marts.former_landing_error(landing, former, landing)
      ) -%}
    {%- elif (
        cdc_marts.has_removed_messages(former_table)
        if former_table is not none else var('retention', none)
    ) -%}
      {%- do exceptions.raise_compiler_error(
          cdc_marts.former_landing_error(landing, former, former)
      ) -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{#-
  It is an error if a staging table of another target needs to know which
  messages were removed from the landing table.
-#}
{% macro check_other_targets(landing_table) -%}
  {%- set others = adapter.call_with_session(
      'cdc_marts.operations.other_readers:other_staging_tables',
      landing_table.render(),
      this.render()
  ) -%}
  {%- if others -%}
    {%- do exceptions.raise_compiler_error(
        cdc_marts.other_targets_error(landing_table, others | join(', '))
    ) -%}
  {%- endif -%}
{%- endmacro %}


{#- From now on, the landing table counts as complete. -#}
{% macro forget_removed_messages(landing_table) -%}
  {%- do run_query(
      'delete from ' ~ cdc_marts.landing_relation('removed_messages')
      ~ " where source_format = '" ~ cdc_marts.format_of_staging() ~ "'"
  ) -%}
  {%- do run_query(
      'alter table ' ~ landing_table ~ ' unset tblproperties if exists ('
      ~ adapter.string_literal(cdc_marts.retention_property()) ~ ')'
  ) -%}
{%- endmacro %}


{% macro check_irreplaceable_rows(landing_table) -%}
  {%- set staging_has_rows = has_rows(this) -%}
  {%- if not staging_has_rows -%}
    {%- do cdc_marts.check_other_targets(landing_table) -%}
  {%- endif -%}
  {%- if not staging_has_rows
      or not cdc_marts.lists_removed_messages(landing_table) -%}
    {%- set gone = cdc_marts.landing_relation('removed_messages')
        if staging_has_rows else this -%}
    {%- do exceptions.raise_compiler_error(
        cdc_marts.removed_messages_error(landing_table, gone)
    ) -%}
  {%- endif -%}
  {%- if flags.EMPTY -%}
    {%- do exceptions.raise_compiler_error(
        cdc_marts.empty_rebuild_error(landing_table)
    ) -%}
  {%- endif -%}
  {%- do cdc_marts.check_setting_changes(cdc_marts.irreplaceable_rows_sql()) -%}
  {%- do log(
      this ~ ' keeps its rows of the messages that were removed from '
      ~ landing_table ~ ', as they were read.',
      info=true
  ) -%}
{%- endmacro %}


{#- The staging rows of removed messages, as a table expression. -#}
{% macro irreplaceable_rows_sql() -%}
(
    select records.*
    from {{ this }} as records
    left semi join {{ cdc_marts.landing_relation('removed_messages') }} as removed
        on
            records.source_format = removed.source_format
            and {{ cdc_marts.is_in_offset_block('records', 'removed') }}
)
{%- endmacro %}


{% macro removed_messages_error(landing_table, gone) -%}
`cdc-marts maintain` removed older messages from {{ landing_table }}, or began to, by the setting `retention`. Only {{ this }} is sure to have their content, but {{ gone }} was dropped or emptied.
Restore {{ gone }}, {{ cdc_marts.giving_up_advice() }}
{%- endmacro %}


{% macro former_landing_error(landing, former, shortened) -%}
`cdc-marts maintain` removed older messages from {{ shortened }}, or may have done so, by the setting `retention`. {{ this }} was built from {{ former }}, and would lack their rows if it were now built from {{ landing }}.
Set `landing_schema` to {{ former.schema }} again, {{ cdc_marts.giving_up_advice() }}
{%- endmacro %}


{% macro other_targets_error(landing_table, others) -%}
`cdc-marts maintain` removed older messages from {{ landing_table }}, by the setting `retention`. Staging tables of other targets keep their content: {{ others }}. A rebuild of these has to know which messages were removed, so {{ this }} can't be built from {{ landing_table }} alone.
Give the target {{ target.name }} a landing schema of its own (setting `landing_schema`), and land its messages there. Drop a named table if no target builds it any more.
{%- endmacro %}


{% macro empty_rebuild_error(landing_table) -%}
A full refresh with --empty would lose rows of {{ this }}: what messages said that `cdc-marts maintain` removed from {{ landing_table }}, by the setting `retention`.
Leave out --full-refresh or --empty, {{ cdc_marts.giving_up_advice() }}
{%- endmacro %}


{#- The end of a sentence about rows that were read with other settings. -#}
{% macro reread_advice() -%}
{%- if is_incremental() -%}
or read the messages again and rebuild what follows from them:
  {{ cdc_marts.rebuild_command() }}
{%- else -%}
{{ cdc_marts.giving_up_advice() }}
{%- endif -%}
{%- endmacro %}


{#- The end of a sentence about rows of removed messages. -#}
{% macro giving_up_advice() -%}
or build from landing alone, which loses what only removed messages said:
  {{ cdc_marts.rebuild_command() }} --vars 'without_removed_messages: true'
{%- endmacro %}
