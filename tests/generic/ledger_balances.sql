{#- Each landed message has exactly one kind of record. -#}
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
        or redelivered < 0
        or pending_update_before < 0

)

select * from validation_errors

{% endtest %}
