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
