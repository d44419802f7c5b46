{#- Whether images of a format say nothing about the columns of a table. -#}
{% macro has_sparse_rows() -%}
source_format in (
    {%- for source_format in formats_that('has_sparse_rows') -%}
    '{{ source_format }}'{{ ", " if not loop.last }}
    {%- endfor -%}
)
{%- endmacro %}
