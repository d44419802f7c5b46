{#-
  A decoded value of type `decoded_type` as a value of `spark_type`, null where
  it does not fit.  Nothing is cut off or rounded without a word, which is what
  Spark's casts would do to text.
-#}
{% macro read_as(spark_type, decoded, decoded_type) -%}
{%- if decoded_type == spark_type -%}
{{ decoded }}
{%- elif decoded_type != 'string' -%}
{%- if spark_type == 'string' and decoded_type == 'binary' -%}
translate(base64({{ decoded }}), '\r\n', '')
{%- elif spark_type == 'string' and decoded_type == 'variant' -%}
to_json({{ decoded }})
{%- else -%}
try_cast({{ decoded }} as {{ spark_type }})
{%- endif -%}
{%- elif spark_type.startswith('decimal') -%}
{{ cdc_marts.read_decimal(spark_type, decoded) }}
{%- elif spark_type == 'double' -%}
{{ cdc_marts.read_double(decoded) }}
{%- elif spark_type == 'float' -%}
{{ cdc_marts.read_float(decoded) }}
{%- elif spark_type == 'date' -%}
case
    when {{ decoded }} rlike '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
        then {{ cdc_marts.in_calendar(decoded, 'date') }}
end
{%- elif spark_type in ['timestamp', 'timestamp_ntz'] -%}
{%- set pattern = '^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}'
    ~ '(:[0-9]{2}([.][0-9]{1,6}0*)?)?' -%}
{%- set zone = '( ?(Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?))?' -%}
case
    when {{ decoded }} rlike
        '{{ pattern }}{{ zone if spark_type == 'timestamp' }}$'
        then {{ cdc_marts.in_calendar(decoded, spark_type) }}
end
{%- elif spark_type == 'binary' -%}
{{ cdc_marts.decode_base64(decoded) }}
{%- elif spark_type == 'variant' -%}
try_parse_json({{ decoded }})
{%- else -%}
try_cast({{ decoded }} as {{ spark_type }})
{%- endif -%}
{%- endmacro %}


{#- Text in ISO form -> a time of the years 1 to 9999, else null. -#}
{% macro in_calendar(text, spark_type) -%}
case
    when year(try_cast({{ text }} as {{ spark_type }})) between 1 and 9999
        then try_cast({{ text }} as {{ spark_type }})
end
{%- endmacro %}


{#-
  A published value as a value of `spark_type`, null where it does not fit.

  text, column.value: expressions of the value as text and as VARIANT.
  column: also `source_type` and `parameters` as published, and the `spark_type`
  that the code table gives them.  decoding: the rule that it gives them.
-#}
{% macro read_value(text, column, decoding, spark_type) -%}
{%- set decoded = cdc_marts['decode_' ~ decoding](text, column) -%}
{%- set decoded_type = cdc_marts.decoded_type(decoding, column.spark_type) -%}
{{ cdc_marts.read_as(spark_type, decoded, decoded_type) }}
{%- endmacro %}


{#- The type of what a rule gives: text where it is yet to be read. -#}
{% macro decoded_type(decoding, spark_type) -%}
  {%- set is_typed = decoding.startswith('epoch_') or spark_type == 'binary'
      and decoding != 'text' or decoding == 'variant' -%}
  {%- do return(spark_type if is_typed else 'string') -%}
{%- endmacro %}
