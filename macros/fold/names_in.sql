{#- The names of the columns in an image, none where there is no image. -#}
{% macro names_in(image) -%}
coalesce(
    map_keys(cast({{ image }} as map<string, variant>)),
    cast(array() as array<string>)
)
{%- endmacro %}
