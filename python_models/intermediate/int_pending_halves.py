from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.pending_halves import pending_halves


def model(dbt, session):
    records, exceptions = dbt.ref("int_split_records"), dbt.ref("int_exceptional_records")
    new_records, new_exceptions = dbt.new_rows(records, exceptions)
    is_redelivery = "exception = 'redelivery'"
    return pending_halves(
        new_records,
        records=dbt.rows_so_far(records),
        new_redeliveries=new_exceptions.where(is_redelivery),
        redeliveries=dbt.rows_so_far(exceptions).where(is_redelivery),
        earlier=earlier_rows(dbt, session),
    )
