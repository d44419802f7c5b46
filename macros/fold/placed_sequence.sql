{#-
  The sequence of a record in the place of its message.  Without a place in
  `int_message_places`, it is the sequence that the message itself gives.

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
  The id of the event of a record.  If a load repairs its table, its rows get
  other ids, or they would count as redeliveries of earlier full loads.
-#}
{% macro placed_event_id(record, place) -%}
if(
        {{ place }}.transaction_index is null or instr({{ record }}.event_id, ':') > 0,
        {{ record }}.event_id,
        md5(concat({{ record }}.event_id, ' ', {{ place }}.transaction_index))
    )
{%- endmacro %}
