{#-
  Whether a message is in a block of 64 offsets that names it with a bit, as in
  `removed_messages`.

  message, block: aliases of relations with the coordinates of messages and with
  blocks.
-#}
{% macro is_in_offset_block(message, block) -%}
{%- set offset = message ~ '.offset' -%}
{{ message }}.topic = {{ block }}.topic
            and {{ message }}.`partition` = {{ block }}.`partition`
            and {{ block_of_offset(offset) }} = {{ block }}.offset_block
            and bit_get({{ block }}.offset_bits, {{ bit_of_offset(offset) }}) = 1
{%- endmacro %}


{#- The number of the block that an offset is in. -#}
{% macro block_of_offset(offset) -%}
shiftright({{ offset }}, 6)
{%- endmacro %}


{#- The index of the bit that names an offset in its block. -#}
{% macro bit_of_offset(offset) -%}
cast({{ offset }} & 63 as int)
{%- endmacro %}


{#-
  The coordinates of all messages in blocks, with the other columns of the
  blocks.
-#}
{% macro messages_in_blocks_sql(blocks) -%}
select
    * except (offset_block, offset_bits, bit_index),
    offset_block * 64 + bit_index as offset
from {{ blocks }}
    lateral view explode(sequence(0, 63)) as bit_index
where bit_get(offset_bits, bit_index) = 1
{%- endmacro %}
