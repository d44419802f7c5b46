{#-
  The index of a resync replaces the hash of the topic, which moves to the row
  index, because a load may have landed in several topics.  Half of the hash
  leaves room for the rows of a message.
-#}
{% macro placed_sequence(record, place) -%}
if(
        {{ place }}.offset is null,
        {{ record }}.sequence,
        {{ sequence_struct(
            place ~ '.position',
            'coalesce(' ~ place ~ '.transaction_index, ' ~ record
            ~ '.sequence.transaction_index)',
            record ~ '.sequence.`partition`',
            record ~ '.sequence.offset',
            placed_row_index(record, place),
        ) }}
    )
{%- endmacro %}


{% macro placed_row_index(record, place) -%}
{{ record }}.sequence.row_index + if(
                {{ place }}.transaction_index is not null
                and {{ record }}.sequence.transaction_index
                = xxhash64({{ record }}.topic),
                shiftright(hash({{ record }}.topic), 1),
                0
            )
{%- endmacro %}


{#-
  With their usual ids, the rows of the load would count as redeliveries of
  earlier full loads.
-#}
{% macro placed_event_id(record, place) -%}
if(
        {{ place }}.transaction_index is null or instr({{ record }}.event_id, ':') > 0,
        {{ record }}.event_id,
        md5(concat({{ record }}.event_id, ' ', {{ place }}.transaction_index))
    )
{%- endmacro %}
