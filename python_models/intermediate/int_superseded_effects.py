from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.key_collisions import superseded_effects_of_run


def model(dbt, session):
    return superseded_effects_of_run(
        dbt.new_rows(dbt.ref("int_colliding_keys")),
        effects=dbt.rows_so_far(dbt.ref("int_row_effects")),
        exceptional_records=dbt.ref("int_exceptional_records"),
        events=dbt.ref("int_events"),
        split_key_changes=dbt.ref("int_split_key_changes"),
        truncations=dbt.ref("int_truncations"),
        earlier=earlier_rows(dbt, session),
    )
