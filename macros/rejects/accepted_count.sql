{% macro accepted_count(topic, accepted) -%}
{%- if accepted -%}
case {{ topic }}
    {%- for name, count in accepted.items() %}
    when {{ adapter.string_literal(name) }} then {{ count | int }}
    {%- endfor %}
    else 0
end
{%- else -%}
0
{%- endif -%}
{%- endmacro %}
