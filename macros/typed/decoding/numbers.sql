{#-
  Text -> double, null where a double can't hold the number: where another
  number is printed of it than was published.

  Up to 15 digits are always printed again.  More are right if they are what is
  printed of the double, or if they are no more than 17, as Java before 19 and
  PostgreSQL before 12 print, and the double is within half of the last of them.
-#}
{% macro read_double(text) -%}
{%- set value = 'try_cast(' ~ text ~ ' as double)' -%}
{%- set whole = 'try_cast(' ~ value ~ ' as bigint)' -%}
{%- set digits = 'length(' ~ cdc_marts.significant_digits(text) ~ ')' -%}
{%- set is_normal = 'abs(' ~ value ~ ') between 1e-300 and 1e300' -%}
case
    when {{ digits }} <= 15 and {{ is_normal }} then {{ value }}
    when {{ cdc_marts.is_printed_as(value, text) }} then {{ value }}
    when
        {{ digits }} <= 17
        and {{ is_normal }}
        and (
            abs({{ value }}) not between 1 and 1e18
            or abs(
                try_cast({{ text }} as decimal(38, 19))
                - {{ whole }}
                - try_cast({{ value }} % 1 as decimal(38, 19))
            )
            -- a fraction of 16 digits is not known more exactly
            < {{ cdc_marts.last_place(text) }} / 2
            + if({{ cdc_marts.last_place(text) }} < 1e-12, 6e-17, 0)
        )
        then {{ value }}
end
{%- endmacro %}


{#-
  Text -> float, null where a float can't hold the number: as with a double, of
  which 6 digits are always printed again.
-#}
{% macro read_float(text) -%}
{%- set value = 'try_cast(' ~ text ~ ' as float)' -%}
case
    when
        length({{ cdc_marts.significant_digits(text) }}) <= 6
        and abs({{ value }}) between 1e-37 and 1e38
        then {{ value }}
    when {{ cdc_marts.is_printed_as(value, text) }} then {{ value }}
    -- within half of the last digit, but for the rounding of doubles
    when abs(try_cast({{ text }} as double) - cast({{ value }} as double))
        <= {{ cdc_marts.last_place(text) }} * 0.500001
        then {{ value }}
end
{%- endmacro %}


{#- Digits -> decimal, null where it has more of them than the type. -#}
{% macro read_decimal(spark_type, digits) -%}
{%- set value = 'try_cast(' ~ digits ~ ' as ' ~ spark_type ~ ')' -%}
{%- set scale = cdc_marts.decimal_digits(spark_type).scale -%}
case
    when {{ digits }} rlike '^[+-]?[0-9]*([.][0-9]{0,{{ scale }}}0*)?$'
        then {{ value }}
    when {{ cdc_marts.is_printed_as(value, digits) }} then {{ value }}
end
{%- endmacro %}


{#- Whether Spark prints a number as the text has it, zeros and form aside. -#}
{% macro is_printed_as(value, text) -%}
{{ cdc_marts.significant_digits('cast(' ~ value ~ ' as string)') }}
        = {{ cdc_marts.significant_digits(text) }}
{%- endmacro %}


{#-
  The digits of a number that count: without its sign, point and exponent, and
  without zeros at either end.  Of a word the word, small.
-#}
{% macro significant_digits(text) -%}
trim(
    both '0' from translate(
        split_part(replace(lower({{ text }}), 'infinity', 'inf'), 'e', 1),
        '+-.',
        ''
    )
)
{%- endmacro %}


{#- What 1 in the last digit of a number stands for. -#}
{% macro last_place(text) -%}
{%- set parts = "split_part(lower(" ~ text ~ "), 'e', {})" -%}
pow(
    10,
    coalesce(try_cast(nullif({{ parts.format(2) }}, '') as int), 0)
    - length(split_part({{ parts.format(1) }}, '.', 2))
)
{%- endmacro %}
