{% macro columns_of_message() -%}
{%- do return(columns_of_partition() + ['offset']) -%}
{%- endmacro %}


{% macro columns_of_partition() -%}
{%- do return(['source_format', 'topic', '`partition`']) -%}
{%- endmacro %}


{% macro columns_of_table() -%}
{%- do return(['source_format', 'table_id']) -%}
{%- endmacro %}


{% macro columns_of_key() -%}
{%- do return(columns_of_table() + ['row_key']) -%}
{%- endmacro %}
