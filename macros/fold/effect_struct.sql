{#- What an effect adds to its record, on the key of the record. -#}
{% macro effect_struct(
    effect, is_move='false', row_key='row_key', is_partial='is_partial'
) -%}
named_struct(
    'row_key', {{ row_key }},
    'is_partial', {{ is_partial }},
    'is_move', {{ is_move }},
    'effect', {{ effect }}
)
{%- endmacro %}


{#- The same of the removal of a row from the key that it had before. -#}
{% macro removal_struct(old_row_key) -%}
{{ effect_struct(
    "'removal'", is_move='true', row_key=old_row_key, is_partial='false'
) }}
{%- endmacro %}
