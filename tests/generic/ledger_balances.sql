{#-
  Each landed message has exactly one kind of record, and no partition has more
  redelivered changes than changes.
-#}
{% test ledger_balances(model) %}

with

ledger as (select * from {{ model }}),

validation_errors as (

    select * from ledger
    where
        landed <> (
            `change`
            + update_before
            + ddl
            + `transaction`
            + heartbeat
            + tombstone
            + rejected
        )
        or row_changes < 0

)

select * from validation_errors

{% endtest %}
