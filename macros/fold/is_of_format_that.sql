{% macro is_of_format_that(trait) -%}
source_format in (
    {%- for source_format in formats_that(trait) -%}
    '{{ source_format }}'{{ ", " if not loop.last }}
    {%- endfor -%}
)
{%- endmacro %}
