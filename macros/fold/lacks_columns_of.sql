{#-
  Condition of a join: the columns that an event's image lacks, by its schema
  version and its place.  At most one row is found for an event.

  event: alias with `source_format`, `table_id`, `schema_id`, `sequence`,
  `lists_all_columns`.  missing: alias of `int_missing_columns`.
-#}
{% macro lacks_columns_of(event, missing) -%}
not {{ event }}.lists_all_columns
            and {{ matches(
                event, missing, ['source_format', 'table_id', 'schema_id']
            ) }}
            and {{ event }}.sequence > {{ missing }}.from_sequence
            and coalesce(
                {{ event }}.sequence <= {{ missing }}.to_sequence, true
            )
{%- endmacro %}
