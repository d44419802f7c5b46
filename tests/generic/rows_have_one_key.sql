{#-
  No live row of a table was written before the table had another key.  If a
  table gets another key, its older rows stay under the old key.  If such a row
  changes, it appears a second time, under the new key.  This also happens if
  the table gets its old key back, and if messages publish a key column in
  another JSON type (1 and "1").  A warning names the table; `cdc-marts resync`
  removes the old rows.

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
        json_object_keys(row_key) as key_names,
        cast(try_parse_json(row_key) as map<string, variant>) as key_values
    from {{ model }}

),

-- NULL is of each type.
typed_keys as (

    select
        * except (key_names, key_values),
        array_join(key_names, ', ') as key_columns,
        transform(
            key_names,
            name -> case
                when schema_of_variant(key_values[name]) = 'VOID' then null
                when
                    schema_of_variant(key_values[name])
                    rlike '^(BIGINT|DECIMAL|DOUBLE)'
                    then 'number'
                else lower(schema_of_variant(key_values[name]))
            end
        ) as key_types
    from row_state

),

truncations as (select * from {{ truncations }}),

live_rows as (

    select typed_keys.*
    from typed_keys
    left anti join truncations
        on
            {{ matches('typed_keys', 'truncations', columns_of_table()) }}
            and {{ is_truncated_by(
                'typed_keys',
                'truncations',
                sequence='last_sequence',
            ) }}
    where typed_keys.is_live

),

live_keys as (

    select
        source_format,
        table_id,
        key_columns,
        key_types,
        count(*) as live_rows,
        min(last_sequence) as first_sequence
    from live_rows
    group by source_format, table_id, key_columns, key_types

),

table_keys as (

    select
        source_format,
        table_id,
        key_columns,
        key_types,
        max(last_sequence) as last_sequence
    from typed_keys
    group by source_format, table_id, key_columns, key_types

),

validation_errors as (

    select
        live_keys.source_format,
        live_keys.table_id,
        live_keys.key_columns,
        live_keys.key_types,
        live_keys.live_rows,
        table_keys.key_columns as later_key_columns,
        table_keys.key_types as later_key_types
    from live_keys
    inner join table_keys
        on
            {{ matches('live_keys', 'table_keys', columns_of_table()) }}
            and live_keys.first_sequence < table_keys.last_sequence
            and (
                live_keys.key_columns <> table_keys.key_columns
                or array_contains(
                    zip_with(
                        live_keys.key_types,
                        table_keys.key_types,
                        (key_type, later_type) -> key_type <> later_type
                    ),
                    true
                )
            )

)

select * from validation_errors

{% endtest %}
