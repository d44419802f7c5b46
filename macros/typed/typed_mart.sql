{#-
  The query of a typed mart: the rows that its source table has now, in real
  columns.  The var `tables` declares the table under the model's name.

  An incremental run reads the rows of the keys with new events only, and with
  them the keys that are gone (`_last_op` null), for the merge to delete.  Where
  the table was emptied, its declaration changed, or the mart has columns that it
  has not, or not so, the mart is built anew.
-#}
{% macro typed_mart() -%}
  {%- set table = cdc_marts.declared_table(model.name) -%}
  {{- config(
      partition_by=table.partition_by or none,
      tblproperties={'cdc_marts.declaration': cdc_marts.declaration_id(table)},
  ) -}}
  {#- dbt must see these when it parses the model -#}
  {%- set inputs = [
      ref('latest_state'), ref('int_table_schemas'), ref('int_table_columns'),
      ref('int_lost_columns'), ref('int_keyless_rows'), ref('source_types'), ref('int_row_effects'),
  ] -%}
  {%- set new_effects = new_rows(ref('int_touched_keys')) -%}
  {%- set new_ends = new_rows(ref('int_table_ends')) -%}
  {%- set new_drops = new_rows(ref('int_column_drops')) -%}
  {%- set changes = [new_effects, new_ends, new_drops] -%}
  {%- set is_changed = cdc_marts.has_rows_of(table, changes) -%}
  {%- if is_incremental() and cdc_marts.has_declaration(table)
      and (adapter.has_nothing_new(this) or not is_changed) -%}
    {%- do return('select * from ' ~ this ~ ' where false') -%}
  {%- endif -%}
  {%- set has_rows = is_incremental() or is_changed -%}
  {%- set can_ask = execute
      and load_relation(ref('latest_state')) is not none
      and load_relation(ref('int_table_schemas')) is not none
      and load_relation(ref('source_types')) is not none -%}
  {%- set columns = cdc_marts.typed_columns(table)
      if can_ask and has_rows else [] -%}
  {%- do adapter.keep_property(
      this, 'cdc_marts.lost_columns', cdc_marts.lost_columns_id(columns)
  ) -%}
  {%- set columns = columns or cdc_marts.unseen_columns(table) -%}
  {%- set is_merge = is_incremental() -%}
  {%- if is_merge and cdc_marts.must_rebuild(table, columns, new_ends) -%}
    {%- do adapter.rebuild(this) -%}
    {%- set is_merge = false -%}
  {%- endif -%}
  {%- set has_keyless_rows = has_rows
      and cdc_marts.has_rows_of(table, [ref('int_keyless_rows')]) -%}
  {{ cdc_marts.typed_mart_sql(
      table,
      columns,
      new_effects if is_merge else none,
      has_rows,
      has_keyless_rows
  ) }}
{%- endmacro %}


{#- Whether one of these has rows of a source table, asked one by one. -#}
{% macro has_rows_of(table, relations) -%}
  {%- for relation in relations -%}
    {%- if cdc_marts.finds_rows(
        'select * from ' ~ relation ~ ' where ' ~ cdc_marts.is_of_table(table)
    ) -%}
      {%- do return(true) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(false) -%}
{%- endmacro %}


{#- Changes where the table loses a column that it, and the mart, has again. -#}
{% macro lost_columns_id(columns) -%}
  {%- set lost = [] -%}
  {%- for column in columns if column.lost_at -%}
    {%- do lost.append([column.source, column.lost_at]) -%}
  {%- endfor -%}
  {%- do return(local_md5(tojson(lost | sort)) if lost else '') -%}
{%- endmacro %}


{#- Changes with every change of the declaration; kept with the mart. -#}
{% macro declaration_id(table) -%}
  {%- do return(local_md5(tojson(table, sort_keys=true))) -%}
{%- endmacro %}


{#- Whether the mart was built by this declaration of its table. -#}
{% macro has_declaration(table) -%}
  {%- set kept = adapter.table_property(this, 'cdc_marts.declaration') -%}
  {%- do return(kept == cdc_marts.declaration_id(table)) -%}
{%- endmacro %}


{#- What a typed mart has beside its table's columns: name -> Spark type. -#}
{% macro typed_mart_columns() -%}
  {%- do return({
      '_row_key': 'string',
      '_row_copy': 'bigint',
      '_last_op': 'string',
      '_last_event_at': 'timestamp',
      '_cast_errors': 'array<struct<column:string,text:string,type:string>>',
  }) -%}
{%- endmacro %}


{#- Before its first message, the columns that the mart is partitioned by. -#}
{% macro unseen_columns(table) -%}
  {%- set columns = [] -%}
  {%- for expression in table.partition_by -%}
    {%- set around = '^\\w+\\((\\d+,\\s*)?|\\)$|`' -%}
    {%- set name = modules.re.sub(around, '', expression) -%}
    {%- set is_of_time = modules.re.match(
        '(year|month|day|hour)s?\\(', expression
    ) -%}
    {%- do columns.append({
        'name': name,
        'source': name,
        'text': 'cast(null as string)',
        'spark_type': 'timestamp' if is_of_time else 'string',
        'is_cast': true,
        'decoded_by': [{'decoding': 'text', 'spark_type': 'string'}],
    }) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{%- endmacro %}


{#- Whether more changes than rows of new events, and columns that come on. -#}
{% macro must_rebuild(table, columns, new_ends) -%}
  {%- set kept = adapter.table_property(this, 'cdc_marts.lost_columns') -%}
  {%- if not cdc_marts.has_declaration(table)
      or (kept or '') != cdc_marts.lost_columns_id(columns) -%}
    {%- do return(true) -%}
  {%- endif -%}
  {%- set wanted = dict(cdc_marts.typed_mart_columns()) -%}
  {%- for column in columns -%}
    {%- do wanted.update({column.name | lower: column.spark_type}) -%}
  {%- endfor -%}
  {%- for column in adapter.get_columns_in_relation(this) -%}
    {%- if wanted.get(column.name | lower) != column.data_type -%}
      {%- do return(true) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set ends_of_table -%}
    select 1 from {{ new_ends }}
    where {{ cdc_marts.is_of_table(table) }}
    limit 1
  {%- endset -%}
  {%- do return(run_query(ends_of_table).rows | length > 0) -%}
{%- endmacro %}


{% macro typed_mart_sql(
    table, columns, new_effects, has_rows=true, has_keyless_rows=false
) -%}
with

{% if new_effects is not none -%}
touched_keys as (

    select row_key
    from {{ new_effects }}
    where {{ cdc_marts.is_of_table(table) }}

    union

    -- rows that may take values from under another key, which changed
    select row_key
    from {{ ref('int_row_effects') }}
    where
        {{ cdc_marts.is_of_table(table) }}
        and effect = 'upsert'
        and is_partial
        and (is_key_change or op = 'insert')

),

{% endif -%}
live_rows as (

    {% if has_keyless_rows -%}
    -- a row may be there twice whose table has lost its key
    select
        row_key,
        max_by(
            struct(`row`, schema_id, last_op, last_event_at), last_sequence
        ) as newest,
        sum(row_count) as row_count
    {%- else -%}
    select *
    {%- endif %}
    from {{ ref('latest_state') }}
    where
        {{ cdc_marts.is_of_table(table) if has_rows else 'false' }}
        {% if new_effects is not none -%}
        and row_key in (select touched_keys.row_key from touched_keys)
        {%- endif %}
    {% if has_keyless_rows -%}
    group by row_key
    {%- endif %}

),

texts as (

    select
        row_key,
        `row`,
        row_count,
        schema_id,
        {% for column in columns -%}
        {{ column.text }} as text_{{ loop.index }},
        {% endfor -%}
        last_op,
        last_event_at
    from {{ '(select row_key, newest.*, row_count from live_rows)'
        if has_keyless_rows else 'live_rows' }}

),

read_rows as (

    select
        row_key,
        row_count,
        {% for column in columns -%}
        text_{{ loop.index }},
        {{ cdc_marts.typed_value('text_' ~ loop.index, column) | trim }}
            as value_{{ loop.index }},
        {% endfor -%}
        last_op,
        last_event_at
    from texts

),

typed_rows as (

    select
        {% for column in columns -%}
        value_{{ loop.index }} as {{ cdc_marts.quoted_name(column.name) }},
        {% endfor -%}
        row_key as _row_key,
        -- equal rows of a table without a key
        explode(sequence(1L, row_count)) as _row_copy,
        last_op as _last_op,
        last_event_at as _last_event_at,
        array_compact(array(
            {% for column in columns -%}
            if(
                text_{{ loop.index }} is not null
                and value_{{ loop.index }} is null,
                {{ cdc_marts.cast_error(column, 'text_' ~ loop.index) }},
                null
            ){{ "," }}
            {% endfor -%}
            cast(
                null as struct<`column`: string, text: string, type: string>
            )
        )) as _cast_errors
    from read_rows

){% if new_effects is not none %},

gone_rows as (

    select
        {% for column in columns -%}
        cast(null as {{ column.spark_type }})
            as {{ cdc_marts.quoted_name(column.name) }},
        {% endfor -%}
        mart._row_key,
        mart._row_copy,
        cast(null as string) as _last_op,
        cast(null as timestamp) as _last_event_at,
        cast(
            null as array<struct<`column`: string, text: string, type: string>>
        ) as _cast_errors
    from {{ this }} as mart
    left semi join touched_keys
        on mart._row_key = touched_keys.row_key
    left anti join typed_rows
        on
            mart._row_key = typed_rows._row_key
            and mart._row_copy = typed_rows._row_copy

),

changed_rows as (

    select * from typed_rows

    union all

    select * from gone_rows

)

select * from changed_rows
{%- else %}

select * from typed_rows
{%- endif %}
{%- endmacro %}


{#- A column's value, by the type that it had when the row was last written. -#}
{% macro typed_value(text, column) -%}
{%- if column.decoded_by | length == 1 -%}
{{ cdc_marts.value_of_shape(text, column.decoded_by[0], column) }}
{%- else -%}
case
    {% for shape in column.decoded_by[1:] -%}
    when schema_id in ({{ shape.schema_ids | join('L, ') }}L)
        then {{ cdc_marts.value_of_shape(text, shape, column) }}
    {% endfor -%}
    else {{ cdc_marts.value_of_shape(text, column.decoded_by[0], column) }}
end
{%- endif -%}
{%- endmacro %}


{% macro value_of_shape(text, shape, column) -%}
{%- if shape.is_array -%}
{{ cdc_marts.read_as(
    column.spark_type, cdc_marts.decode_array(shape), shape.spark_type
) if column.spark_type == shape.spark_type else text }}
{%- elif column.is_cast or column.spark_type in ['string', shape.spark_type] -%}
{{ cdc_marts.read_value(text, shape, shape.decoding, column.spark_type) }}
{%- else -%}
{{ cdc_marts.read_as(
    column.spark_type,
    cdc_marts.read_value(text, shape, shape.decoding, shape.spark_type),
    shape.spark_type
) }}
{%- endif -%}
{%- endmacro %}


{% macro cast_error(column, text) -%}
named_struct(
    'column', {{ adapter.string_literal(column.name) }},
    'text', {{ text }},
    'type', '{{ column.spark_type }}'
)
{%- endmacro %}


{#- A name between backticks, as any name may stand. -#}
{% macro quoted_name(name) -%}
`{{ name | replace('`', '``') }}`
{%- endmacro %}
