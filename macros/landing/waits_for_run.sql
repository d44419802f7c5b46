{#- Iceberg knows the newest commit in staging without reading rows. -#}
{% macro waits_for_run(message, staging) -%}
coalesce(
        {{ message }}.landing_commit > coalesce(
            (select max(staged.landing_commit) from {{ staging }} as staged),
            0
        ),
        false
    )
{%- endmacro %}
