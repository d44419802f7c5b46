from cdc_marts.fold.filled_rows import (
    KEY,
    TABLE,
    filled_rows,
    no_filled_rows,
    partial_by_image,
)


def model(dbt, session):
    touched, replayed, new_truncations = dbt.new_rows(
        dbt.ref("int_touched_keys"), dbt.ref("int_replayed_keys"), dbt.ref("int_truncations")
    )
    effects = dbt.rows_so_far(dbt.ref("int_row_effects")).where("not is_keyless")
    missing = dbt.ref("int_missing_columns")
    partial_tables = (
        dbt.ref("int_known_tables")
        .where("has_partial_images")
        .select(*TABLE)
        .union(missing.select(*TABLE))
        .distinct()
    )
    if partial_tables.isEmpty():
        return no_filled_rows(effects)
    # On a colliding key, an effect on another key may change which row remains.
    keys = touched.where("not is_keyless").select(*KEY).union(replayed.select(*KEY))
    if dbt.is_incremental:
        # Rows that an earlier run filled, and whose table has a new truncation.
        held = session.table(str(dbt.this)).join(new_truncations, [*TABLE], "left_semi")
        keys = keys.union(held.select(*KEY))
    keys = keys.join(partial_tables, [*TABLE], "left_semi").distinct()
    if keys.isEmpty():
        return no_filled_rows(effects)
    touched_tables = keys.select(*TABLE).distinct()
    return filled_rows(
        partial_by_image(effects.join(touched_tables, [*TABLE], "left_semi"), missing),
        keys,
        dbt.ref("int_split_key_changes"),
        dbt.ref("int_superseded_effects"),
        dbt.ref("int_truncations"),
        dbt.ref("int_split_records").where("record_type = 'update_before'"),
        dbt.config.get("longest_key_chain"),
    )
