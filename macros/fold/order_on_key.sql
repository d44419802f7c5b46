{% macro order_on_key(effect, superseded) -%}
struct(
            coalesce(
                {{ superseded }}.stands_before.sequence, {{ effect }}.sequence
            ) as sequence,
            coalesce({{ superseded }}.stands_before.index, 2147483647) as index
        )
{%- endmacro %}
