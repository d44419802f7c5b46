{#-
  The key of a keyless row that a split update wrote, with the columns that only
  its `update_before` has, because all columns of such a row are its key.

  row_key: the key in the `update_after`.  old_row_key: the key in the
  `update_before`, or null.
  takes_columns: the condition `takes_columns_of_half`.
-#}
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


{#- An after image, with the columns that only the before image has. -#}
{% macro filled_image(image, image_before) -%}
to_variant_object(map_concat(
            cast({{ image_before }} as map<string, variant>),
            cast({{ image }} as map<string, variant>)
        ))
{%- endmacro %}


{#-
  Whether a row takes the columns that only its `update_before` has: it is
  keyless, and its format writes whole rows.
-#}
{% macro takes_columns_of_half() -%}
is_keyless and not {{ is_of_format_that('has_sparse_rows') }}
{%- endmacro %}


{#- Whether an `update_after` lacks columns of its `update_before`. -#}
{% macro lacks_columns_of_half(row_key, old_row_key) -%}
size(array_except(
            json_object_keys({{ old_row_key }}), json_object_keys({{ row_key }})
        )) > 0
{%- endmacro %}
