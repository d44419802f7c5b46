from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.schema_versions import schema_versions


def model(dbt, session):
    effects, records = dbt.ref("int_row_effects"), dbt.ref("int_records")
    new_effects, new_records, new_exceptions = dbt.new_rows(
        effects, records, dbt.ref("int_exceptional_records")
    )
    return schema_versions(
        new_effects,
        effects=dbt.rows_so_far(effects),
        new_exceptions=new_exceptions,
        new_records=new_records,
        records=dbt.rows_so_far(records),
        earlier=earlier_rows(dbt, session),
    )
