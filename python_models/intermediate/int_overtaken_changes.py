from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.overtaken_changes import overtaken_changes


def model(dbt, session):
    records, loads = dbt.ref("int_commit_ordered_records"), dbt.ref("int_load_ranges")
    reloaded = dbt.ref("int_reloaded_messages")
    new_records, new_loads, new_reloaded = dbt.new_rows(records, loads, reloaded)
    return overtaken_changes(
        new_records,
        records=dbt.rows_so_far(records),
        new_loads=new_loads,
        loads=dbt.rows_so_far(loads),
        new_reloaded=new_reloaded,
        reloaded=dbt.rows_so_far(reloaded),
        earlier=earlier_rows(dbt, session),
    )
