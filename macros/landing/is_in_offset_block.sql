{#-
  Whether a message is in a block of 64 offsets that names it with a bit, as in
  `removed_messages`.

  message, block: aliases of relations with the coordinates of messages and with
  blocks.
-#}
{% macro is_in_offset_block(message, block) -%}
{{ message }}.topic = {{ block }}.topic
            and {{ message }}.`partition` = {{ block }}.`partition`
            and shiftright({{ message }}.offset, 6) = {{ block }}.offset_block
            and bit_get(
                {{ block }}.offset_bits, cast({{ message }}.offset & 63 as int)
            ) = 1
{%- endmacro %}
