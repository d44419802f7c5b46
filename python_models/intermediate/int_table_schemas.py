from cdc_marts.fold.schema_versions import VERSION, schema_versions


def model(dbt, session):
    effects, records = dbt.ref("int_row_effects"), dbt.ref("int_records")
    new_effects, new_records, new_exceptions = dbt.new_rows(
        effects, records, dbt.ref("int_exceptional_records")
    )
    columns = [
        *VERSION,
        *("source_type", "column_types", "column_parameters", "column_names"),
        *("first_sequence", "last_sequence", "first_whole_sequence", "last_whole_sequence"),
    ]
    return schema_versions(
        new_effects,
        dbt.rows_so_far(effects),
        new_exceptions.where("is_revision").select(*VERSION),
        new_records,
        dbt.rows_so_far(records),
        session.table(str(dbt.this)) if dbt.is_incremental else None,
    ).select(*columns)
