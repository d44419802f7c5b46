{#- Whether images of a format say nothing about the columns of a table. -#}
{% macro has_sparse_rows() -%}
{{ is_of_format_that('has_sparse_rows') }}
{%- endmacro %}
