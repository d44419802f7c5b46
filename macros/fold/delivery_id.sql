{#-
  What a redelivery of a record has in common with its first delivery; null
  where only coordinates tell records apart (ids made of them hold a colon).
  Before halves are known by what pairs them, which after halves share.
-#}
{% macro delivery_id() -%}
case
    when record_type = 'update_before' then concat('before ', pairing_id)
    when instr(event_id, ':') = 0 then event_id
end
{%- endmacro %}


{#- Whether a record's format names anything to know its redeliveries by. -#}
{% macro may_be_redelivered() -%}
source_format in (
    {%- for source_format in formats_that('known_by_coordinates', false) -%}
    '{{ source_format }}'{{ ", " if not loop.last }}
    {%- endfor -%}
)
{%- endmacro %}


{#-
  In which order deliveries landed, by what any run sees alike: the commit that
  landed them, and in one commit their places.
-#}
{% macro landing_order(record) -%}
struct(
        {{ record }}.landing_commit,
        {{ record }}.topic,
        {{ record }}.sequence.`partition`,
        {{ record }}.sequence.offset,
        {{ record }}.sequence.row_index
    )
{%- endmacro %}
