{#-
  The position to which a message raises the later messages of its partition, or
  null.  If a format is ordered by landing, all messages raise later ones.
  Otherwise, only rows of full loads do.
-#}
{% macro raising_position() -%}
case
    when {{ is_of_format_that('ordered_by_landing') }} or op = 'snapshot'
        then message_position
end
{%- endmacro %}
