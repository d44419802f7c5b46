{#- Base64 text -> its bytes; null where it is none. -#}
{% macro decode_base64(text, column=none) -%}
try_to_binary({{ text }}, 'base64')
{%- endmacro %}


{#-
  Connect's Decimal: base64 of a big-endian two's-complement number, whose scale
  is among the type's parameters.  A converter may be set to write a number.
-#}
{% macro decode_base64_decimal(text, column) -%}
if(
    schema_of_variant({{ column.value }}) = 'STRING',
    {{ cdc_marts.scaled_digits(
        cdc_marts.integer_of_bytes(cdc_marts.decode_base64(text)),
        column.parameters.scale | default(0)
    ) }},
    {{ text }}
)
{%- endmacro %}


{#- Debezium's VariableScaleDecimal, `{"scale": 2, "value": "<base64>"}`. -#}
{% macro decode_variable_scale_decimal(text, column) -%}
{{ cdc_marts.scaled_digits(
    cdc_marts.integer_of_bytes(
        cdc_marts.decode_base64(
            "try_variant_get(" ~ column.value ~ ", '$.value', 'string')"
        )
    ),
    "try_variant_get(" ~ column.value ~ ", '$.scale', 'int')"
) }}
{%- endmacro %}


{#-
  Debezium's Bits, the first bit in the lowest: the number that they are, or the
  bytes as they came where the type has more than 64 bits.
-#}
{% macro decode_little_endian_bits(text, column) -%}
{%- if column.spark_type == 'binary' -%}
{{ cdc_marts.decode_base64(text) }}
{%- else -%}
-- no bits at all are no digit
conv(
    concat('0', array_join(reverse(regexp_extract_all(
        hex({{ cdc_marts.decode_base64(text) }}), '(..)'
    )), '')),
    16, 10
)
{%- endif -%}
{%- endmacro %}


{#-
  Big-endian two's-complement bytes -> decimal digits, exact to 38 of them; null
  beyond.
-#}
{% macro integer_of_bytes(bytes) -%}
{%- set hexadecimal = 'hex(' ~ bytes ~ ')' -%}
{%- set sign = "if(" ~ hexadecimal ~ " >= '8', 'F', '0')" -%}
{%- set is_negative = "if(" ~ hexadecimal ~ " >= '8', 1, 0)" -%}
{%- set wide = 'lpad(' ~ hexadecimal ~ ', 32, ' ~ sign ~ ')' -%}
case
    when length({{ hexadecimal }}) between 1 and 16
        then conv(lpad({{ hexadecimal }}, 16, {{ sign }}), 16, -10)
    -- two halves of 64 bits, both of the number's sign
    when length({{ hexadecimal }}) between 17 and 32
        then cast(try_add(
            try_multiply(
                cast(conv(left({{ wide }}, 16), 16, -10) as decimal(20, 0))
                + {{ is_negative }},
                18446744073709551616
            ),
            cast(conv(right({{ wide }}, 16), 16, 10) as decimal(20, 0))
            - {{ is_negative }} * 18446744073709551616
        ) as string)
end
{%- endmacro %}


{#- Digits of an unscaled integer -> digits with their point. -#}
{% macro scaled_digits(digits, scale) -%}
regexp_replace(
    regexp_replace(
        concat(
            regexp_replace(
                {{ digits }}, '^(-?)', concat('$1', repeat('0', {{ scale }}))
            ),
            repeat('0', -{{ scale }})
        ),
        concat('(\\d{', greatest({{ scale }}, 0), '})$'), '.$1'
    ),
    '^(-?)0+(?=\\d)|\\.$', '$1'
)
{%- endmacro %}
