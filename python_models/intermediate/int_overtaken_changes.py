from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.overtaken_changes import overtaken_changes


def model(dbt, session):
    records, loads = dbt.ref("int_load_following_records"), dbt.ref("int_load_ranges")
    new_records, new_loads = dbt.new_rows(records, loads)
    return overtaken_changes(
        new_records,
        records=dbt.rows_so_far(records),
        new_loads=new_loads,
        loads=dbt.rows_so_far(loads),
        earlier=earlier_rows(dbt, session),
    )
