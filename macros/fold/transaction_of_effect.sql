{#-
  The transaction of an effect.  If messages name no transaction, changes of one
  time count as one transaction.
-#}
{% macro transaction_of_effect() -%}
coalesce(transaction_id, cast(event_at as string))
{%- endmacro %}
