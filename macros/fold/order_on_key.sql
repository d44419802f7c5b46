{#-
  The order of an effect among the effects on its key: struct<sequence, index>.
  An effect has the order of its sequence.  If images show that it stands before
  another effect, it has the sequence of that effect and a lower index.

  effect: alias with `sequence`.
  superseded: alias of `int_superseded_effects` in a left join.
-#}
{% macro order_on_key(effect, superseded) -%}
struct(
            coalesce(
                {{ superseded }}.stands_before.sequence, {{ effect }}.sequence
            ) as sequence,
            coalesce({{ superseded }}.stands_before.index, 2147483647) as index
        )
{%- endmacro %}
