{#-
  Join condition that finds the columns that the image of an event lacks, by its
  schema version and its place in the log.  It finds at most one row per event.

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
