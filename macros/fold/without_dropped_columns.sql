{#-
  A row without the columns that its table lost after the row was last written.

  row: the row as a VARIANT.  sequence: the sequence of the event that wrote it.
  lost_columns: array of struct<column_name, sequence>, null if there are none.
-#}
{% macro without_dropped_columns(row, sequence, lost_columns) -%}
case
    when exists({{ lost_columns }}, lost -> lost.sequence > {{ sequence }})
        then to_variant_object(map_filter(
            cast({{ row }} as map<string, variant>),
            (name, value) -> not exists(
                {{ lost_columns }},
                lost -> lost.column_name = name
                and lost.sequence > {{ sequence }}
            )
        ))
    else {{ row }}
end
{%- endmacro %}
