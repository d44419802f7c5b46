{#- Python decides which rows a run writes (`src/cdc_marts/published`). -#}
{% macro published_mart(mart, grain) -%}
  {%- do cdc_marts.check_adapter() -%}
  {#- Python knows its inputs by these names. -#}
  {%- set inputs, new_inputs, changed_inputs = {'mart': ref(mart)}, {}, {} -%}
  {%- if grain in ('key', 'version') -%}
    {%- set lost_columns = ref('int_lost_columns') -%}
    {%- set filled_rows = ref('int_filled_rows') -%}
    {%- do inputs.update({
        'lost_columns': lost_columns,
        'filled_rows': filled_rows,
        'keyless_rows': ref('int_keyless_rows'),
    }) -%}
    {%- do new_inputs.update({
        'touched_keys': ref('int_touched_keys'),
        'colliding_keys': ref('int_colliding_keys'),
        'truncations': ref('int_truncations'),
    }) -%}
    {%- do changed_inputs.update({
        'lost_columns': lost_columns,
        'filled_rows': filled_rows,
    }) -%}
  {%- else -%}
    {%- do new_inputs.update({
        'records': ref('int_records'),
        'raised': ref('int_raised_messages'),
        'reloaded': ref('int_reloaded_messages'),
    }) -%}
  {%- endif -%}
  {%- if grain == 'whole' -%}
    {#-
      A statement may be resolved in a later run than its record is read, or
      resolved again.
    -#}
    {%- do new_inputs.update({
        'resolved_changes': ref('int_resolved_changes'),
    }) -%}
  {%- endif -%}
  {%- if mart == 'message_ledger' -%}
    {%- do new_inputs.update({
        'removed_messages': source('landing', 'removed_messages'),
    }) -%}
  {%- endif -%}
  {%- if grain == 'event' -%}
    {%- set missing_columns = ref('int_missing_columns') -%}
    {%- do inputs.update({
        'records': ref('int_records'),
        'split_records': ref('int_split_records'),
        'missing_columns': missing_columns,
    }) -%}
    {%- do new_inputs.update({
        'exceptional_records': ref('int_exceptional_records'),
    }) -%}
    {%- do changed_inputs.update({'missing_columns': missing_columns}) -%}
  {%- endif -%}
select * from {{ dataframe(
    'cdc_marts.published.mart:rows',
    inputs,
    new_inputs,
    {'grain': grain},
    changed_inputs
) }}
{%- endmacro %}
