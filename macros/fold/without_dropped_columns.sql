{#-
  A row without the columns that its table lost after the row was last written.

  row: image as VARIANT.  sequence: of the event that wrote it.  table_columns:
  alias of the table's entry in `int_table_columns`, which may be absent.
-#}
{% macro without_dropped_columns(row, sequence, table_columns) -%}
case
    when
        {{ table_columns }}.sequence > {{ sequence }}
        and size(array_except(
            map_keys(cast({{ row }} as map<string, variant>)),
            {{ table_columns }}.column_names
        )) > 0
        then to_variant_object(map_filter(
            cast({{ row }} as map<string, variant>),
            (name, value) -> array_contains(
                {{ table_columns }}.column_names, name
            )
        ))
    else {{ row }}
end
{%- endmacro %}
