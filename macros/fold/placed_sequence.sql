{#-
  A record's sequence in the place of its message; its own where the message has
  no other place.

  place: alias of `int_message_places`.
-#}
{% macro placed_sequence(sequence, place) -%}
if(
        {{ place }}.offset is null,
        {{ sequence }},
        named_struct(
            'position', {{ place }}.position,
            'transaction_index',
            coalesce({{ place }}.transaction_index, {{ sequence }}.transaction_index),
            'partition', {{ sequence }}.`partition`,
            'offset', {{ sequence }}.offset,
            'row_index', {{ sequence }}.row_index
        )
    )
{%- endmacro %}


{#-
  The id of a record's event.  A row that comes again in the load that repairs a
  table is another event than the first one.
-#}
{% macro placed_event_id(record, place) -%}
if(
        {{ place }}.transaction_index is null or instr({{ record }}.event_id, ':') > 0,
        {{ record }}.event_id,
        md5(concat({{ record }}.event_id, ' ', {{ place }}.transaction_index))
    )
{%- endmacro %}
