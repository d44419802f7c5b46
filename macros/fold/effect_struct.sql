{% macro effect_struct(
    effect, is_key_change='false', row_key='records.row_key'
) -%}
named_struct(
    'row_key', {{ row_key }},
    'is_key_change', {{ is_key_change }},
    'effect', {{ effect }}
)
{%- endmacro %}
