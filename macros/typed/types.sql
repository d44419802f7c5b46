{#-
  The Spark type of a source type: the code table's, completed by what the type
  says of its length and scale.

  spark_type: `decimal` and `bits` stand for types that depend on it.
  source_type: as published.  parameters: of a Connect type, or none.
-#}
{% macro completed_type(spark_type, source_type, parameters) -%}
  {%- set digits = modules.re.search(
      '\\(\\s*(\\d+)\\s*(?:,\\s*(-?\\d+)\\s*)?\\)', source_type
  ) -%}
  {%- if spark_type == 'bits' -%}
    {%- set told = digits[1] if digits else parameters.length | default(1) -%}
    {%- set length = told | int -%}
    {%- do return(
        'bigint' if length < 64 else 'decimal(20,0)' if length == 64
        else 'binary'
    ) -%}
  {%- elif spark_type != 'decimal' -%}
    {%- do return(spark_type) -%}
  {%- endif -%}
  {%- if digits -%}
    {%- set precision, scale = digits[1] | int, (digits[2] or 0) | int -%}
  {%- elif parameters.scale is defined -%}
    {%- set told = parameters['connect.decimal.precision'] -%}
    {%- set precision, scale = (told or 38) | int, parameters.scale | int -%}
  {%- else -%}
    {#- No bound is told: 20 digits before the point and 18 behind it. -#}
    {%- set precision, scale = 38, 18 -%}
  {%- endif -%}
  {%- do return(
      cdc_marts.decimal_type([precision - scale, 0] | max, [scale, 0] | max)
  ) -%}
{%- endmacro %}


{#- A decimal of so many digits before and behind the point, else text. -#}
{% macro decimal_type(whole, scale) -%}
  {%- set precision = [whole + scale, 1] | max -%}
  {%- do return(
      'decimal(' ~ precision ~ ',' ~ scale ~ ')' if precision <= 38
      else 'string'
  ) -%}
{%- endmacro %}


{#- `whole` and `scale`: digits of a number before and behind the point. -#}
{% macro decimal_digits(spark_type) -%}
  {%- if spark_type in ['int', 'bigint'] -%}
    {%- do return({'whole': 10 if spark_type == 'int' else 19, 'scale': 0}) -%}
  {%- endif -%}
  {%- set precision, scale = spark_type[8:-1].split(',') -%}
  {%- do return({
      'whole': precision | int - scale | int, 'scale': scale | int,
  }) -%}
{%- endmacro %}


{#-
  The type that holds the values of all of these exactly: a wider number, a time
  in place of a date, else text.
-#}
{% macro common_type(spark_types) -%}
  {%- set types = spark_types | unique | list -%}
  {%- if types | length == 1 -%}
    {%- do return(types[0]) -%}
  {%- endif -%}
  {%- set exact = [] -%}
  {%- for type in types
      if type in ['int', 'bigint'] or type.startswith('decimal') -%}
    {%- do exact.append(type) -%}
  {%- endfor -%}
  {%- if types | sort == ['bigint', 'int'] -%}
    {%- do return('bigint') -%}
  {%- elif exact | length == types | length -%}
    {%- set digits = [] -%}
    {%- for type in types -%}
      {%- do digits.append(cdc_marts.decimal_digits(type)) -%}
    {%- endfor -%}
    {%- do return(cdc_marts.decimal_type(
        digits | map(attribute='whole') | max,
        digits | map(attribute='scale') | max
    )) -%}
  {%- elif types | sort in [
      ['double', 'float'], ['double', 'int'], ['double', 'float', 'int']
  ] -%}
    {%- do return('double') -%}
  {%- elif types | sort == ['date', 'timestamp_ntz'] -%}
    {%- do return('timestamp_ntz') -%}
  {%- endif -%}
  {%- do return('string') -%}
{%- endmacro %}
