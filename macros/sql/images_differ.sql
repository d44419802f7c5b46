{% macro images_differ(image, other) -%}
exists(
    map_keys({{ image }}),
    column_name -> (
        map_contains_key({{ other }}, column_name)
        and not {{ image }}[column_name] <=> {{ other }}[column_name]
    )
)
{%- endmacro %}
