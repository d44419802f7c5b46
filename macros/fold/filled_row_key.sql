{#- All columns of a keyless row are its key. -#}
{% macro filled_row_key(row_key, old_row_key, takes_columns) -%}
if(
        {{ takes_columns }}
        and {{ lacks_columns_of_half(row_key, old_row_key) }},
        coalesce(
            to_json({{ filled_image(
                'try_parse_json(' ~ row_key ~ ')',
                'try_parse_json(' ~ old_row_key ~ ')',
            ) }}),
            {{ row_key }}
        ),
        {{ row_key }}
    )
{%- endmacro %}


{% macro filled_image(image, image_before) -%}
to_variant_object(map_concat(
            cast({{ image_before }} as map<string, variant>),
            cast({{ image }} as map<string, variant>)
        ))
{%- endmacro %}


{% macro takes_columns_of_half() -%}
is_keyless and not {{ is_of_format_that('has_sparse_rows') }}
{%- endmacro %}


{% macro lacks_columns_of_half(row_key, old_row_key) -%}
size(array_except(
            json_object_keys({{ old_row_key }}), json_object_keys({{ row_key }})
        )) > 0
{%- endmacro %}
