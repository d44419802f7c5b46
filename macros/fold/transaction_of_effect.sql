{#-
  The transaction of an effect; where messages name none, changes of one time
  count as one.
-#}
{% macro transaction_of_effect() -%}
coalesce(transaction_id, cast(event_at as string))
{%- endmacro %}
