{#-
  Whether no run has read a landed message yet: its commit is later than the
  newest one in staging, which Iceberg knows without reading rows.  False if the
  landing table records no commits.

  message: alias of a relation with `landing_commit`.
-#}
{% macro waits_for_run(message, staging) -%}
coalesce(
        {{ message }}.landing_commit > coalesce(
            (select max(staged.landing_commit) from {{ staging }} as staged),
            0
        ),
        false
    )
{%- endmacro %}
