{#-
  No live row of a table was written before the table had another key.  If a
  table gets another key, its older rows stay under the old key.  If such a row
  changes, it appears a second time, under the new key.  This also happens if
  the table gets its old key back.  A warning names the table; `cdc-marts
  resync` removes the old rows.

  model: rows of tables with keys, deleted ones too, as `int_row_state`.
  truncations: as `int_truncations`.
-#}
{% test rows_have_one_key(model, truncations) %}

{{ config(severity='warn') }}

with

row_state as (

    select
        *,
        {{ last_sequence() }} as last_sequence,
        array_join(json_object_keys(row_key), ', ') as key_columns
    from {{ model }}

),

truncations as (select * from {{ truncations }}),

live_rows as (

    select row_state.*
    from row_state
    left anti join truncations
        on
            {{ matches('row_state', 'truncations', columns_of_table()) }}
            and {{ is_truncated_by(
                'row_state',
                'truncations',
                sequence='last_sequence',
            ) }}
    where row_state.is_live

),

live_keys as (

    select
        source_format,
        table_id,
        key_columns,
        count(*) as live_rows,
        min(last_sequence) as first_sequence
    from live_rows
    group by source_format, table_id, key_columns

),

table_keys as (

    select
        source_format,
        table_id,
        key_columns,
        max(last_sequence) as last_sequence
    from row_state
    group by source_format, table_id, key_columns

),

validation_errors as (

    select
        live_keys.source_format,
        live_keys.table_id,
        live_keys.key_columns,
        live_keys.live_rows,
        table_keys.key_columns as later_key_columns
    from live_keys
    inner join table_keys
        on
            {{ matches('live_keys', 'table_keys', columns_of_table()) }}
            and live_keys.key_columns <> table_keys.key_columns
            and live_keys.first_sequence < table_keys.last_sequence

)

select * from validation_errors

{% endtest %}
