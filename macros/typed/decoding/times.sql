{#- Days since 1970-01-01 -> date of the years 1 to 9999, else null. -#}
{% macro decode_epoch_days(text, column) -%}
case
    when try_cast({{ text }} as int) between -719162 and 2932896
        then date_add(date '1970-01-01', try_cast({{ text }} as int))
end
{%- endmacro %}


{% macro decode_epoch_millis(text, column) -%}
{{ cdc_marts.time_of_micros(
    'try_multiply(try_cast(' ~ text ~ ' as bigint), 1000L)', column.spark_type
) }}
{%- endmacro %}


{% macro decode_epoch_micros(text, column) -%}
{{ cdc_marts.time_of_micros(
    'try_cast(' ~ text ~ ' as bigint)', column.spark_type
) }}
{%- endmacro %}


{#- Null where there is more than microseconds: nothing is cut off. -#}
{% macro decode_epoch_nanos(text, column) -%}
{{ cdc_marts.time_of_micros(
    'if(try_cast(' ~ text ~ ' as bigint) % 1000 = 0, try_cast(' ~ text
    ~ ' as bigint) div 1000, null)',
    column.spark_type
) }}
{%- endmacro %}


{#- Microseconds since 1970 (UTC) -> a time, null but in years 1 to 9999. -#}
{% macro time_of_micros(micros, spark_type) -%}
case
    when {{ micros }} between -62135596800000000 and 253402300799999999
        then cast(timestamp_micros({{ micros }}) as {{ spark_type }})
end
{%- endmacro %}


{% macro decode_millis_of_day(text, column) -%}
{{ cdc_marts.time_text('try_cast(' ~ text ~ ' as bigint)', 1000) }}
{%- endmacro %}


{% macro decode_micros_of_day(text, column) -%}
{{ cdc_marts.time_text('try_cast(' ~ text ~ ' as bigint)', 1000000) }}
{%- endmacro %}


{% macro decode_nanos_of_day(text, column) -%}
{{ cdc_marts.time_text('try_cast(' ~ text ~ ' as bigint)', 1000000000) }}
{%- endmacro %}


{#-
  A time or a duration in fractions of a second -> `HH:mm:ss[.f…]`; MySQL's may
  be negative, or have more than 24 hours.
-#}
{% macro time_text(fractions, per_second) -%}
{%- set seconds = 'abs(' ~ fractions ~ ') div ' ~ per_second -%}
concat(
    if({{ fractions }} < 0, '-', ''),
    lpad(
        {{ seconds }} div 3600,
        greatest(2, length({{ seconds }} div 3600)),
        '0'
    ),
    ':',
    lpad({{ seconds }} div 60 % 60, 2, '0'),
    ':',
    lpad({{ seconds }} % 60, 2, '0'),
    regexp_replace(
        concat('.', lpad(
            abs({{ fractions }}) % {{ per_second }},
            {{ (per_second | string | length) - 1 }},
            '0'
        )),
        '[.]?0*$', ''
    )
)
{%- endmacro %}
