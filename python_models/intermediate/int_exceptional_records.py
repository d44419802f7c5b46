from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.exceptional_records import exceptional_records


def model(dbt, session):
    records = dbt.ref("int_records")
    new_records, new_raises, new_reloads = dbt.new_rows(
        records, dbt.ref("int_raised_messages"), dbt.ref("int_reloaded_messages")
    )
    return exceptional_records(
        new_records,
        records=dbt.rows_so_far(records),
        new_raises=new_raises,
        new_reloads=new_reloads,
        earlier=earlier_rows(dbt, session),
    )
