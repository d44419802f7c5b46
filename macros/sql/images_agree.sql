{#-
  Condition that two images (map<column, text>) have the same values in the
  columns that both have.
-#}
{% macro images_agree(image, other) -%}
not exists(
    map_keys({{ image }}),
    column_name -> (
        map_contains_key({{ other }}, column_name)
        and not {{ image }}[column_name] <=> {{ other }}[column_name]
    )
)
{%- endmacro %}
