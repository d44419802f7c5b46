{#-
  The number of truncations of its table that come before an event.  If two
  events of a table have different numbers, a truncation is between them.

  event: alias with `sequence`.
  truncations: array of struct<sequence, event_at>, null if there are none.
-#}
{% macro count_truncations_before(event, truncations) -%}
if(
            {{ truncations }} is null,
            0,
            size(filter(
                {{ truncations }},
                truncation -> not {{ is_truncated_by(event, 'truncation') }}
            ))
        )
{%- endmacro %}
