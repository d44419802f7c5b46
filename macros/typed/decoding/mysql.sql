{#-
  An ENUM as a Canal server writes it, by number: its label, which the type
  lists.  0 is MySQL's empty label; a label instead of a number is kept.
-#}
{% macro decode_mysql_enum(text, column) -%}
{%- set listed = cdc_marts.mysql_labels(column.source_type) | join(', ') -%}
{%- set labels = 'array(' ~ listed ~ ')' -%}
case
    when {{ text }} = '0' then ''
    when {{ text }} rlike '^[0-9]+$'
        then get({{ labels }}, try_cast({{ text }} as int) - 1)
    when array_contains({{ labels }}, {{ text }}) then {{ text }}
end
{%- endmacro %}


{#- A SET, by its bits: the labels with commas between, as MySQL shows them. -#}
{% macro decode_mysql_set(text, column) -%}
{%- set labels = cdc_marts.mysql_labels(column.source_type) -%}
{%- set bits = 'conv(' ~ text ~ ', 10, 2)' -%}
case
    when
        {{ text }} rlike '^[0-9]+$'
        and length({{ bits }}) <= {{ labels | length }}
        then concat_ws(',',
            {% for label in labels -%}
            if(
                substr(lpad({{ bits }}, 64, '0'), {{ 64 - loop.index0 }}, 1)
                = '1',
                {{ label }},
                null
            )
            {{- "," if not loop.last }}
            {% endfor -%}
        )
    when
        {{ text }} not rlike '^[0-9]+$'
        and size(array_except(
            split({{ text }}, ','), array('', {{ labels | join(', ') }})
        )) = 0
        then {{ text }}
end
{%- endmacro %}


{#- The labels of `enum('a','it''s')`, as SQL literals. -#}
{% macro mysql_labels(source_type) -%}
  {%- set labels = [] -%}
  {%- for label in modules.re.findall("'((?:[^']|'')*)'", source_type) -%}
    {%- do labels.append(adapter.string_literal(label | replace("''", "'"))) -%}
  {%- endfor -%}
  {%- do return(labels) -%}
{%- endmacro %}


{#- Canal's binaries, one character a byte; null where a character is none. -#}
{% macro decode_latin1(text, column) -%}
if(
    {{ text }} rlike '^[\\x{00}-\\x{FF}]*$',
    encode({{ text }}, 'ISO-8859-1'),
    null
)
{%- endmacro %}


{#- BINARY(n): Canal leaves out the zero bytes that fill it up. -#}
{% macro decode_padded_latin1(text, column) -%}
{%- set length = modules.re.search('\\(\\s*(\\d+)', column.source_type) -%}
{%- if length -%}
rpad({{ cdc_marts.decode_latin1(text, column) }}, {{ length[1] }}, x'00')
{%- else -%}
{{ cdc_marts.decode_latin1(text, column) }}
{%- endif -%}
{%- endmacro %}
