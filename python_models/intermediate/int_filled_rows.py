from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.filled_rows import filled_rows, no_filled_rows, partial_by_image
from cdc_marts.fold.key_chains import keys_of_chains
from cdc_marts.fold.keys_to_fill import keys_to_fill, tables_with_partial_images
from cdc_marts.fold.ranges import effects_on


def model(dbt, session):
    all_effects = dbt.ref("int_row_effects")
    exceptional_records = dbt.ref("int_exceptional_records")
    (
        new_effects,
        touched_keys,
        colliding_keys,
        new_truncations,
        new_exceptions,
        new_resolutions,
    ) = dbt.new_rows(
        all_effects,
        dbt.ref("int_touched_keys"),
        dbt.ref("int_colliding_keys"),
        dbt.ref("int_truncations"),
        exceptional_records,
        dbt.ref("int_resolved_changes"),
    )
    effects = dbt.rows_so_far(all_effects).where("not is_keyless")
    missing = dbt.ref("int_missing_columns")
    tables = tables_with_partial_images(dbt.ref("int_known_tables"), missing)
    if tables.isEmpty():
        return no_filled_rows(effects)
    key_changes, split_key_changes = dbt.ref("int_key_changes"), dbt.ref("int_split_key_changes")
    longest_key_chain = dbt.config.get("longest_key_chain")
    keys_looked_at = keys_to_fill(
        tables,
        effects=effects,
        missing_columns=missing,
        touched_keys=touched_keys,
        colliding_keys=colliding_keys,
        new_effects=new_effects,
        key_changes=key_changes,
        new_truncations=new_truncations,
        new_exceptions=new_exceptions,
        new_resolutions=new_resolutions,
        earlier=earlier_rows(dbt, session),
    )
    keys, earlier_keys = keys_of_chains(
        keys_looked_at, key_changes, split_key_changes, longest_key_chain
    )
    if keys.isEmpty():
        return no_filled_rows(effects)
    effects_on_keys = effects_on(earlier_keys, effects, exceptional_records)
    return filled_rows(
        partial_by_image(effects_on_keys, missing),
        keys=keys,
        effects=effects,
        records=dbt.rows_so_far(dbt.ref("int_records")),
        split_key_changes=split_key_changes,
        superseded=dbt.ref("int_superseded_effects"),
        truncations=dbt.ref("int_truncations"),
        update_befores=dbt.ref("int_split_records").where("record_type = 'update_before'"),
        longest_key_chain=longest_key_chain,
    )
