{% macro transaction_of_effect() -%}
coalesce(transaction_id, cast(event_at as string))
{%- endmacro %}
