{#-
  Condition on a format: its images do not show the columns of their table.
-#}
{% macro has_sparse_rows() -%}
{{ is_of_format_that('has_sparse_rows') }}
{%- endmacro %}
