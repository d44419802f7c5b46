{#-
  A row without the columns that its table lost after the row was last written:
  those that a later list of the table's columns lacks.

  row: image as VARIANT.  sequence, schema_id: of the event that wrote it.
  listings: array of struct<schema_id, last_sequence, column_names>, the last event
  of each shape of the table; null where messages list no columns.
-#}
{% macro without_dropped_columns(row, sequence, schema_id, listings) -%}
case
    when exists(
        {{ listings }},
        listing -> listing.last_sequence > {{ sequence }}
        and not listing.schema_id <=> {{ schema_id }}
    )
        then to_variant_object(map_filter(
            cast({{ row }} as map<string, variant>),
            (name, value) -> not exists(
                {{ listings }},
                listing -> listing.last_sequence > {{ sequence }}
                and not array_contains(listing.column_names, name)
            )
        ))
    else {{ row }}
end
{%- endmacro %}
