from cdc_marts.fold.lost_columns import lost_columns


def model(dbt, session):
    # The model has few rows, and writes all of them again if these inputs have new rows.
    dbt.new_rows(dbt.ref("int_touched_keys"), dbt.ref("int_column_drops"))
    return lost_columns(
        dbt.ref("int_table_schemas"),
        dbt.ref("int_column_drops"),
    )
