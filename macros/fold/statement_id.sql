{#- What all deliveries of a statement share, where they share anything. -#}
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
