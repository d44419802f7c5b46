from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.keyless_rows import keyless_rows


def model(dbt, session):
    all_effects, all_truncations = dbt.ref("int_row_effects"), dbt.ref("int_truncations")
    new_effects, revised_keys, new_truncations = dbt.new_rows(
        all_effects, dbt.ref("int_revised_keys"), all_truncations
    )
    return keyless_rows(
        new_effects.where("is_keyless"),
        effects=dbt.rows_so_far(all_effects).where("is_keyless"),
        revised_keys=revised_keys.where("is_keyless"),
        new_truncations=new_truncations,
        truncations=all_truncations,
        earlier=earlier_rows(dbt, session),
    )
