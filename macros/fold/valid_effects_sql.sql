{#-
  Query of the effects that count: without those that were withdrawn, because
  their event has another place by now, or repeats a delivery that landed before.
-#}
{% macro valid_effects_sql(effects) -%}
{%- set withdrawn -%}
select * from {{ effects }} where effect = 'withdrawn'
{%- endset -%}
{%- if finds_rows(withdrawn) -%}
select effects.*
from {{ effects }} as effects
left anti join {{ effects }} as withdrawn
    on
        withdrawn.effect = 'withdrawn'
        and effects.effect <> 'redelivery'
        and effects.source_format = withdrawn.source_format
        and effects.topic = withdrawn.topic
        and effects.sequence = withdrawn.sequence
{%- else -%}
select * from {{ effects }}
{%- endif %}
{%- endmacro %}
