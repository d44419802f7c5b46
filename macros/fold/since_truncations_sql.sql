{#-
  The rows of a relation that no truncation of their table has ended.

  events: relation with a `sequence`, such as events or effects.
  truncations: relation with the columns of `int_truncations`.
-#}
{% macro since_truncations_sql(events, truncations) -%}
select events.*
from {{ events }} as events
left anti join {{ truncations }} as truncations
    on
        {{ matches('events', 'truncations', columns_of_table()) }}
        and {{ is_truncated_by('events', 'truncations') }}
{%- endmacro %}
