{#-
  The order in which messages landed, as a struct.  If an event has several
  deliveries, the first that landed counts; this is the same one in every run.

  record: alias with `landing_commit` and the coordinates of the message.
-#}
{% macro landing_order(record) -%}
struct(
            {{ record }}.landing_commit,
            {{ record }}.topic,
            {{ record }}.`partition`,
            {{ record }}.offset
        )
{%- endmacro %}
