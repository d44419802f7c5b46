from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.keyless_rows import keyless_rows


def model(dbt, session):
    all_effects, all_truncations = dbt.ref("int_row_effects"), dbt.ref("int_truncations")
    new_effects, new_revised_keys, new_truncations = dbt.new_rows(
        all_effects, dbt.ref("int_revised_keys"), all_truncations
    )
    return keyless_rows(
        new_effects,
        effects=dbt.rows_so_far(all_effects),
        new_revised_keys=new_revised_keys,
        new_truncations=new_truncations,
        truncations=dbt.rows_so_far(all_truncations),
        earlier=earlier_rows(dbt, session),
    )
