{#-
  How many truncations of its table come before an event: two events between
  which there is one differ in it.

  event: alias with `sequence`.
  truncations: array of struct<sequence, event_at>, null where there are none.
-#}
{% macro count_truncations_before(event, truncations) -%}
coalesce(size(filter(
    {{ truncations }},
    truncation -> not {{ is_truncated_by(event, 'truncation') }}
)), 0)
{%- endmacro %}
