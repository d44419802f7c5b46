{#-
  The columns of a typed mart, in order: those of the key, then as the source
  lists them, then, by name, those that only rows without a list have.

  Each: `name`, `source` (its name there), `spark_type`, `lost_at`, and
  `decoded_by`: how its values are read, per schema version of the table.
-#}
{% macro typed_columns(table) -%}
  {%- set listed = cdc_marts.published_columns(table) -%}
  {%- do cdc_marts.check_columns(table, listed) -%}
  {%- do cdc_marts.check_types(table, listed) -%}
  {%- set columns, names = [], cdc_marts.typed_mart_columns() | list -%}
  {%- for source, entries in listed.items()
      if entries | selectattr('is_current') | list -%}
    {%- set renamed = table.renames.get(source, source) -%}
    {%- set name = cdc_marts.free_name(renamed, names) -%}
    {%- do names.append(name) -%}
    {%- do columns.append(
        cdc_marts.typed_column(table, source, name, entries)
    ) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{%- endmacro %}


{#-
  Column -> how each schema version of the table has it: `schema_id`,
  `source_type` and `parameters` as published, `spark_type` and `decoding` of the
  code table, `is_current`: whether the table has the column now, `lost_at`: where
  it was lost last, if it was.
-#}
{% macro published_columns(table) -%}
  {%- set traits = cdc_marts.source_formats()[table.source_format] -%}
  {%- set versions = run_query(cdc_marts.schema_versions_sql(table)).rows -%}
  {%- set dialects = cdc_marts.dialects_of(traits, versions) -%}
  {%- set rules = fromjson(versions[0].code_table) -%}
  {%- set current = fromjson(versions[0].current_columns) -%}
  {%- set lost = fromjson(versions[0].lost_columns) -%}
  {%- set found = {} -%}
  {%- for version in versions if version.schema_id is not none -%}
    {%- set types = fromjson(version.column_types or '{}') -%}
    {%- set parameters = fromjson(version.column_parameters or '{}') -%}
    {%- for column in fromjson(version.column_names) -%}
      {%- set source_type = types.get(column) or '' -%}
      {%- set parameters_of_column = fromjson(parameters[column] or '{}') -%}
      {%- set items = parameters_of_column if source_type == 'array' else {} -%}
      {%- set rule = cdc_marts.type_rule(
          rules, dialects, items.name or items.type or source_type
      ) -%}
      {%- set entries = found.setdefault(column, []) -%}
      {%- do entries.append({
          'schema_id': version.schema_id,
          'source_type': source_type,
          'parameters': items.parameters or {} if items
              else parameters_of_column,
          'spark_type': rule.spark_type,
          'decoding': rule.decoding,
          'is_array': source_type == 'array' and rule.decoding is defined,
          'is_current': traits.has_sparse_rows or column in current,
          'lost_at': lost.get(column),
      }) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- if traits.has_sparse_rows -%}
    {%- for row in run_query(cdc_marts.unlisted_columns_sql(table)).rows -%}
      {%- set entries = found.setdefault(row.column_name, []) -%}
      {%- do entries.append({'source_type': '', 'is_current': true}) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- set key = table.key or fromjson(versions[0].row_key or '{}') | list -%}
  {%- set ordered = {} -%}
  {#- the row key of a keyless table is its whole row -#}
  {%- for column in key if column in found and key | length < found | length -%}
    {%- do ordered.update({column: found[column]}) -%}
  {%- endfor -%}
  {%- do ordered.update(found) -%}
  {%- do return(ordered) -%}
{%- endmacro %}


{#-
  One row per schema version of a source table, or one without a version: first
  those that list all columns, newest first.  In each the code table, the key of
  some row, the columns that the table has now, and where it lost some.
-#}
{% macro schema_versions_sql(table) -%}
{%- set traits = cdc_marts.source_formats()[table.source_format] -%}
{%- set dialects = traits.type_dialects or [] -%}
select
    cast(versions.schema_id as string) as schema_id,
    versions.source_type,
    to_json(versions.column_names) as column_names,
    to_json(versions.column_types) as column_types,
    to_json(versions.column_parameters) as column_parameters,
    (
        select to_json(collect_list(struct(source_types.*)))
        from {{ ref('source_types') }} as source_types
        where split_part(dialect, '_', 1) in ('{{ dialects | join("', '") }}')
    ) as code_table,
    (
        select any_value(effects.row_key)
        from (
            select row_key from {{ ref('int_row_effects') }}
            where {{ cdc_marts.is_of_table(table) }}
            limit 1
        ) as effects
    ) as row_key,
    (
        select to_json(collect_set(column_name))
        from {{ ref('int_table_columns') }}
        where {{ cdc_marts.is_of_table(table) }} and lost_sequence is null
    ) as current_columns,
    (
        select to_json(map_from_entries(collect_list(struct(
            column_name, to_json(last_sequence)
        ))))
        from (
            select
                column_name,
                max(sequence) as last_sequence
            from {{ ref('int_lost_columns') }}
            where {{ cdc_marts.is_of_table(table) }}
            group by column_name
        )
    ) as lost_columns
from (select 1) as one_row
left join {{ ref('int_table_schemas') }} as versions
    on {{ cdc_marts.is_of_table(table) }}
order by
    versions.last_whole_sequence desc nulls last,
    versions.last_sequence desc
{%- endmacro %}


{#- The columns of rows that no schema version describes. -#}
{% macro unlisted_columns_sql(table) -%}
select distinct
    explode(map_keys(cast(`row` as map<string, variant>))) as column_name
from {{ ref('latest_state') }}
where {{ cdc_marts.is_of_table(table) }} and schema_id is null
order by column_name
{%- endmacro %}


{% macro is_of_table(table) -%}
source_format = '{{ table.source_format }}'
and table_id = {{ adapter.string_literal(table.table_id) }}
{%- endmacro %}


{#-
  Whose type names a table has: the dialects of the code table to look in, in this
  order.  Where a format carries tables of several kinds of database, the version
  with the most columns says of which kind this one is.
-#}
{% macro dialects_of(traits, versions) -%}
  {%- set dialects = traits.type_dialects or [] -%}
  {%- set widest = {'columns': 0, 'source_type': none} -%}
  {%- for version in versions if version.column_types is not none -%}
    {%- set columns = fromjson(version.column_types) | length -%}
    {%- if columns > widest.columns -%}
      {%- do widest.update(
          {'columns': columns, 'source_type': version.source_type}
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if dialects == ['dts'] -%}
    {%- do return([cdc_marts.dts_dialect(widest.source_type)]) -%}
  {%- endif -%}
  {%- do return(
      [widest.source_type] if widest.source_type in dialects else dialects
  ) -%}
{%- endmacro %}


{#- DTS numbers types per kind of database. -#}
{% macro dts_dialect(source_type) -%}
  {%- do return({
      'mysql': 'dts_mysql', 'drds': 'dts_mysql',
      'oracle': 'dts_oracle',
      'postgresql': 'dts_postgresql', 'ppas': 'dts_postgresql',
  }.get(source_type, 'dts')) -%}
{%- endmacro %}


{#- The code table's row for a type, of the first dialect that has one. -#}
{% macro type_rule(rules, dialects, source_type) -%}
  {%- for dialect in dialects -%}
    {%- for rule in rules if rule.dialect == dialect
        and modules.re.fullmatch(rule.source_type, source_type | lower) -%}
      {%- do return(rule) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return({}) -%}
{%- endmacro %}


{#-
  Warns of renames and casts that are not of columns that the table has, or had,
  or that give a name twice.  No error: a message may bring new columns.
-#}
{% macro check_columns(table, listed) -%}
  {%- if listed -%}
    {%- for option in ['renames', 'casts'] -%}
      {%- for column in table[option] if column not in listed -%}
        {%- do exceptions.warn(
            'Typed mart `' ~ table.name ~ '`: `' ~ option ~ '` names a column `'
            ~ column ~ '`, but ' ~ table.table_id ~ ' has '
            ~ listed | join(', ') ~ '.'
        ) -%}
      {%- endfor -%}
    {%- endfor -%}
    {%- set kept = [] -%}
    {%- for column in listed if column not in table.renames -%}
      {%- do kept.append(column | lower) -%}
    {%- endfor -%}
    {%- set reserved = kept + cdc_marts.typed_mart_columns().keys() | list -%}
    {%- for column, name in table.renames.items() -%}
      {%- if name | lower in reserved -%}
        {%- do exceptions.warn(
            'Typed mart `' ~ table.name ~ '`: `' ~ column ~ '` of '
            ~ table.table_id ~ ' is renamed to `' ~ name
            ~ '`, which is another column\'s name; one of them gets a number.'
        ) -%}
      {%- endif -%}
      {%- do reserved.append(name | lower) -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}


{#- Warns of columns that messages should name a type of, and do not. -#}
{% macro check_types(table, listed) -%}
  {%- set untyped = [] -%}
  {%- for column, entries in listed.items()
      if column not in table.casts
      and entries | selectattr('is_current') | list
      and not entries | selectattr('source_type') | list -%}
    {%- do untyped.append(column) -%}
  {%- endfor -%}
  {%- set traits = cdc_marts.source_formats()[table.source_format] -%}
  {%- if untyped and traits.type_dialects -%}
    {%- do exceptions.warn(
        'Typed mart `' ~ table.name ~ '`: the messages of ' ~ table.table_id
        ~ ' name no type of ' ~ untyped | join(', ') ~ '; their values are kept'
        ~ ' as text. Casts in `vars: tables` of dbt_project.yml give them types.'
    ) -%}
  {%- endif -%}
{%- endmacro %}


{#- The name, with a number behind it where it is taken, in whatever case. -#}
{% macro free_name(name, taken) -%}
  {%- set lower_taken = taken | map('lower') | list -%}
  {%- set found = [name or 'unnamed'] -%}
  {%- for number in range(2, taken | length + 3)
      if found[-1] | lower in lower_taken -%}
    {%- do found.append((name or 'unnamed') ~ '_' ~ number) -%}
  {%- endfor -%}
  {%- do return(found[-1]) -%}
{%- endmacro %}


{#- A column, its type the one that holds what it has been published as. -#}
{% macro typed_column(table, source, name, entries) -%}
  {%- set path = cdc_marts.variant_path(source) -%}
  {%- set literal = adapter.string_literal(source) -%}
  {%- set value = 'variant_get(`row`, ' ~ path ~ ')' if path
      else 'cast(`row` as map<string, variant>)[' ~ literal ~ ']' -%}
  {%- set decoded_by, own_types = {}, [] -%}
  {%- set typed_entries = entries | selectattr('source_type') | list -%}
  {%- for entry in typed_entries or [{'source_type': ''}] -%}
    {%- set way = entry.source_type ~ entry.parameters ~ entry.spark_type
        ~ entry.decoding -%}
    {%- if way not in decoded_by -%}
      {%- if entry.source_type and not entry.decoding -%}
        {%- do exceptions.warn(
            'Typed mart `' ~ table.name ~ '`: the type `' ~ entry.source_type
            ~ '` of column `' ~ source ~ '` is not in the code table'
            ~ ' source_types; its values are kept as text.'
        ) -%}
      {%- endif -%}
      {%- set own_type = cdc_marts.completed_type(
          entry.spark_type or 'string', entry.source_type, entry.parameters
      ) -%}
      {%- if entry.is_array -%}
        {%- set own_type = 'array<' ~ own_type ~ '>' -%}
      {%- endif -%}
      {%- do own_types.append(own_type) -%}
      {%- do decoded_by.update({way: {
          'schema_ids': [],
          'source_type': entry.source_type,
          'parameters': entry.parameters,
          'spark_type': own_type,
          'decoding': entry.decoding or 'text',
          'is_array': entry.is_array,
          'value': value,
      }}) -%}
    {%- endif -%}
    {%- do decoded_by[way].schema_ids.append(entry.schema_id) -%}
  {%- endfor -%}
  {%- set own_types = own_types | unique | list -%}
  {%- set cast_to = table.casts.get(source) -%}
  {%- set spark_type = cast_to or cdc_marts.common_type(own_types) -%}
  {%- if not cast_to and spark_type == 'string' and own_types | length > 1 -%}
    {%- do exceptions.warn(
        'Typed mart `' ~ table.name ~ '`: column `' ~ source ~ '` has been '
        ~ own_types | join(', ') ~ ', which only text holds all of; a cast in'
        ~ ' `vars: tables` of dbt_project.yml gives it another type.'
    ) -%}
  {%- endif -%}
  {%- do return({
      'name': name,
      'source': source,
      'text': "try_variant_get(`row`, " ~ path ~ ", 'string')" if path
          else 'try_cast(' ~ value ~ ' as string)',
      'spark_type': spark_type,
      'is_cast': cast_to is not none,
      'lost_at': entries[0].lost_at,
      'decoded_by': decoded_by.values() | list,
  }) -%}
{%- endmacro %}


{#- A column's path in a VARIANT object, none where it can't be written. -#}
{% macro variant_path(column) -%}
  {%- for quote in ['"', "'"] if quote not in column and column -%}
    {%- set path = '$[' ~ quote ~ column ~ quote ~ ']' -%}
    {%- do return(adapter.string_literal(path)) -%}
  {%- endfor -%}
{%- endmacro %}
