{#- The delivery that landed first is the same one in every run. -#}
{% macro landing_order(record) -%}
struct(
            {{ record }}.landing_commit,
            {{ record }}.topic,
            {{ record }}.`partition`,
            {{ record }}.offset
        )
{%- endmacro %}
