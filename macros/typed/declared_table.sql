{#-
  What the var `tables` says of a typed mart, checked: `source_format`,
  `table_id`, `renames`, `casts`, `partition_by`.
-#}
{% macro declared_table(name) -%}
  {%- set options = [
      'source_format', 'table_id', 'key', 'renames', 'casts', 'partition_by',
  ] -%}
  {%- set tables = var('tables') or {} -%}
  {%- if name not in tables -%}
    {%- do cdc_marts.wrong_declaration(
        name,
        'it is not declared: add it to `vars: tables` of dbt_project.yml, or'
        ~ ' let `cdc-marts scaffold` do so'
    ) -%}
  {%- endif -%}
  {%- set table = tables[name] -%}
  {%- if table is not mapping -%}
    {%- do cdc_marts.wrong_declaration(
        name, 'it needs `source_format` and `table_id`'
    ) -%}
  {%- endif -%}
  {%- for option in table if option not in options -%}
    {%- do cdc_marts.wrong_declaration(
        name,
        'there is no option `' ~ option ~ '`: there are ' ~ options | join(', ')
    ) -%}
  {%- endfor -%}
  {%- for option in ['source_format', 'table_id'] if not table[option] -%}
    {%- do cdc_marts.wrong_declaration(name, 'it lacks `' ~ option ~ '`') -%}
  {%- endfor -%}
  {%- set source_formats = cdc_marts.source_formats() -%}
  {%- if source_formats and table.source_format not in source_formats -%}
    {%- do cdc_marts.wrong_declaration(
        name,
        'there is no format `' ~ table.source_format ~ '`: there are '
        ~ source_formats | join(', ')
    ) -%}
  {%- endif -%}
  {%- for option, value in {'renames': 'new_name', 'casts': 'type'}.items()
      if table[option] and table[option] is not mapping -%}
    {%- do cdc_marts.wrong_declaration(
        name,
        '`' ~ option ~ '` is no mapping: write {column: ' ~ value ~ '}'
    ) -%}
  {%- endfor -%}
  {%- for option in ['key', 'partition_by'] if table[option]
      and (table[option] is string or table[option] is mapping) -%}
    {%- do cdc_marts.wrong_declaration(
        name, '`' ~ option ~ '` is no list: write [column, …]'
    ) -%}
  {%- endfor -%}
  {%- set casts = {} -%}
  {%- for column, type in (table.casts or {}).items() -%}
    {%- set spark_type = cdc_marts.cast_type(type) -%}
    {%- if not spark_type -%}
      {%- do cdc_marts.wrong_declaration(
          name,
          'the cast of `' ~ column ~ '` to `' ~ type ~ '` is to no type that a'
          ~ ' cast can have: boolean, int, bigint, float, double, decimal(p,s),'
          ~ ' string, binary, date, timestamp, timestamp_ntz, variant'
      ) -%}
    {%- endif -%}
    {%- do casts.update({column: spark_type}) -%}
  {%- endfor -%}
  {%- do return({
      'name': name,
      'source_format': table.source_format,
      'table_id': table.table_id,
      'key': table.key or [],
      'renames': table.renames or {},
      'casts': casts,
      'partition_by': table.partition_by or [],
  }) -%}
{%- endmacro %}


{#- Spark's name of a type, none for one that a cast can't have. -#}
{% macro cast_type(type) -%}
  {%- set name = modules.re.sub('\\s+', '', type | string | lower) -%}
  {%- set aliases = {
      'tinyint': 'int', 'smallint': 'int', 'integer': 'int', 'long': 'bigint',
      'real': 'float', 'timestamp_ltz': 'timestamp',
  } -%}
  {%- set names = [
      'boolean', 'int', 'bigint', 'float', 'double', 'string', 'binary', 'date',
      'timestamp', 'timestamp_ntz', 'variant',
  ] -%}
  {%- set name = aliases.get(name, name) -%}
  {%- set decimal = modules.re.fullmatch(
      '(?:decimal|numeric|dec)\\((\\d+)(?:,(\\d+))?\\)', name
  ) -%}
  {%- if decimal -%}
    {%- set precision, scale = decimal[1] | int, (decimal[2] or 0) | int -%}
    {%- set is_possible = scale <= precision and 1 <= precision <= 38 -%}
    {%- do return(
        'decimal(' ~ precision ~ ',' ~ scale ~ ')' if is_possible else none
    ) -%}
  {%- endif -%}
  {%- do return(name if name in names else none) -%}
{%- endmacro %}


{% macro wrong_declaration(name, problem) -%}
  {%- do exceptions.raise_compiler_error(
      'Typed mart `' ~ name ~ '`: ' ~ problem ~ '.'
  ) -%}
{%- endmacro %}


{#- All declarations, also of tables without a model; a table has one key. -#}
{% macro check_declared_tables() -%}
  {%- set names = {} -%}
  {%- for name in var('tables') or {} -%}
    {%- set table = cdc_marts.declared_table(name) -%}
    {%- set source = table.source_format ~ ' ' ~ table.table_id -%}
    {%- set other = names.get(source) -%}
    {%- if other and cdc_marts.declared_table(other).key != table.key -%}
      {%- do cdc_marts.wrong_declaration(
          name,
          'it has another `key` than `' ~ other ~ '`, which is of the same'
          ~ ' table, ' ~ source
      ) -%}
    {%- endif -%}
    {%- do names.update({source: name}) -%}
  {%- endfor -%}
{%- endmacro %}


{#-
  The var `source_formats`.  A model of a project that has this one as a package
  sees the vars of its own project alone, so it takes the config of a model here:
  none before all models are parsed.  `check_declared_tables` comes after that.
-#}
{% macro source_formats() -%}
  {%- set own = var('source_formats', none) -%}
  {%- if own is none and execute -%}
    {%- set model_here = graph.nodes['model.cdc_marts.source_tables'] -%}
    {%- do return(model_here.config.source_formats) -%}
  {%- endif -%}
  {%- do return(own) -%}
{%- endmacro %}
