{% macro is_in_offset_block(message, block) -%}
{%- set offset = message ~ '.offset' -%}
{{ message }}.topic = {{ block }}.topic
            and {{ message }}.`partition` = {{ block }}.`partition`
            and {{ block_of_offset(offset) }} = {{ block }}.offset_block
            and bit_get({{ block }}.offset_bits, {{ bit_of_offset(offset) }}) = 1
{%- endmacro %}


{% macro block_of_offset(offset) -%}
shiftright({{ offset }}, 6)
{%- endmacro %}


{% macro bit_of_offset(offset) -%}
cast({{ offset }} & 63 as int)
{%- endmacro %}


{% macro messages_in_blocks_sql(blocks) -%}
select
    * except (offset_block, offset_bits, bit_index),
    offset_block * 64 + bit_index as offset
from {{ blocks }}
    lateral view explode(sequence(0, 63)) as bit_index
where bit_get(offset_bits, bit_index) = 1
{%- endmacro %}
