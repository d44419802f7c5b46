{% macro sequence_members() -%}
{%- do return([
    'position',
    'transaction_index',
    'partition',
    'offset',
    'row_index',
]) -%}
{%- endmacro %}


{% macro sequence_struct(
    position, transaction_index, partition, offset, row_index
) -%}
named_struct(
            'position', {{ position }},
            'transaction_index', {{ transaction_index }},
            'partition', {{ partition }},
            'offset', {{ offset }},
            'row_index', {{ row_index }}
        )
{%- endmacro %}
