{#- The columns that identify a message. -#}
{% macro columns_of_message() -%}
{%- do return(columns_of_partition() + ['offset']) -%}
{%- endmacro %}


{#- The columns that identify a partition. -#}
{% macro columns_of_partition() -%}
{%- do return(['source_format', 'topic', '`partition`']) -%}
{%- endmacro %}


{#- The columns that identify a source table. -#}
{% macro columns_of_table() -%}
{%- do return(['source_format', 'table_id']) -%}
{%- endmacro %}


{#- The columns that identify a key of a source table. -#}
{% macro columns_of_key() -%}
{%- do return(columns_of_table() + ['row_key']) -%}
{%- endmacro %}
