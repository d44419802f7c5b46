{% macro fits_names(way) -%}
(
    {{ name_fits('database_name', 'database_name', way) }}
    and {{ name_fits('schema_name', 'schema_name', way) }}
    and {{ name_fits('table_name', 'table_name', way) }}
)
{%- endmacro %}


{% macro is_of_database() -%}
(changes.database_name is null or tables.database_name is not null)
{%- endmacro %}


{% macro fits_as_schema(way) -%}
(
    changes.schema_name is null
    and tables.schema_name is not null
    and {{ name_fits('database_name', 'schema_name', way) }}
    and {{ name_fits('table_name', 'table_name', way) }}
)
{%- endmacro %}


{% macro name_fits(named, known, way) -%}
coalesce(
        {%- if way == 'exactly' %}
        changes.{{ named }} = tables.{{ known }}
        {%- else %}
        lower(changes.{{ named }}) = lower(tables.{{ known }})
        {%- endif %},
        true
    )
{%- endmacro %}
