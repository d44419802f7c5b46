{#- An effect's own columns as a struct; arguments are SQL expressions. -#}
{% macro effect_struct(row_key, is_partial, is_move, effect) -%}
named_struct(
    'row_key', {{ row_key }},
    'is_partial', {{ is_partial }},
    'is_move', {{ is_move }},
    'effect', {{ effect }}
)
{%- endmacro %}
