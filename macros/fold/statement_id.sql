{#-
  A value that all deliveries of a statement share.  If a format has no such
  value, it is the place of the message.
-#}
{% macro statement_id(record) -%}
coalesce(
                {{ record }}.event_id,
                concat_ws(
                    ':',
                    {{ record }}.topic,
                    {{ record }}.`partition`,
                    {{ record }}.offset
                )
            )
{%- endmacro %}
