from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.filling import filled_rows_of_run
from cdc_marts.fold.log import Log, NewRows


def model(dbt, session):
    effects = dbt.ref("int_row_effects")
    exceptional_records = dbt.ref("int_exceptional_records")
    truncations = dbt.ref("int_truncations")
    (
        new_effects,
        touched_keys,
        colliding_keys,
        new_truncations,
        new_exceptions,
        new_resolutions,
    ) = dbt.new_rows(
        effects,
        dbt.ref("int_touched_keys"),
        dbt.ref("int_colliding_keys"),
        truncations,
        exceptional_records,
        dbt.ref("int_resolved_changes"),
    )
    return filled_rows_of_run(
        Log(
            effects=dbt.rows_so_far(effects),
            records=dbt.rows_so_far(dbt.ref("int_records")),
            key_changes=dbt.ref("int_key_changes"),
            split_key_changes=dbt.ref("int_split_key_changes"),
            superseded=dbt.ref("int_superseded_effects"),
            truncations=truncations,
            missing_columns=dbt.ref("int_missing_columns"),
        ),
        NewRows(
            effects=new_effects,
            touched_keys=touched_keys,
            colliding_keys=colliding_keys,
            truncations=new_truncations,
            exceptions=new_exceptions,
            resolutions=new_resolutions,
        ),
        exceptional_records=exceptional_records,
        known_tables=dbt.ref("int_known_tables"),
        split_records=dbt.ref("int_split_records"),
        earlier=earlier_rows(dbt, session),
        longest_key_chain=dbt.config.get("longest_key_chain"),
    )
