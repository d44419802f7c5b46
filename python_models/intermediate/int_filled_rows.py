from cdc_marts.checkpoints import broadcast_if_few
from cdc_marts.fold.columns import KEY, TABLE
from cdc_marts.fold.filled_rows import (
    filled_rows,
    no_filled_rows,
    partial_by_image,
    rows_after,
)
from cdc_marts.fold.key_chains import keys_of_chains
from cdc_marts.fold.key_changes import keys_changed_beside
from cdc_marts.fold.ranges import has_effect_on, in_tables_of


def model(dbt, session):
    all_effects = dbt.ref("int_row_effects")
    new_effects, touched, replayed, new_truncations = dbt.new_rows(
        all_effects,
        dbt.ref("int_touched_keys"),
        dbt.ref("int_replayed_keys"),
        dbt.ref("int_truncations"),
    )
    effects = dbt.rows_so_far(all_effects).where("not is_keyless")
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
    key_changes, split_key_changes = dbt.ref("int_key_changes"), dbt.ref("int_split_key_changes")
    longest_key_chain = dbt.config.get("longest_key_chain")
    effects_on_keys = effects.join(partial_tables, [*TABLE], "left_semi")
    if dbt.is_incremental:
        # Rows that an earlier run filled, perhaps from before a truncation that it did not know.
        held = rows_after(new_truncations, session.table(str(dbt.this)))
        keys = (
            touched.where("not is_keyless")
            .select(*KEY)
            # On a colliding key, an effect on another key may change which row remains.
            .union(replayed.select(*KEY))
            .union(keys_changed_beside(new_effects, key_changes).select(*KEY))
            .union(held.select(*KEY))
            .join(partial_tables, [*TABLE], "left_semi")
            .distinct()
        )
        chains = keys_of_chains(keys, key_changes, split_key_changes, longest_key_chain)
        if chains.isEmpty():
            return no_filled_rows(effects)
        effects_on_keys = (
            effects.where(in_tables_of(chains))
            .where(has_effect_on(chains, dbt.ref("int_exceptional_records")))
            .join(broadcast_if_few(chains), [*KEY], "left_semi")
        )
    return filled_rows(
        partial_by_image(effects_on_keys, missing),
        effects=effects,
        records=dbt.rows_so_far(dbt.ref("int_records")),
        split_key_changes=split_key_changes,
        superseded=dbt.ref("int_superseded_effects"),
        truncations=dbt.ref("int_truncations"),
        update_befores=dbt.ref("int_split_records").where("record_type = 'update_before'"),
        message_places=dbt.rows_so_far(dbt.ref("int_message_places")),
        longest_key_chain=longest_key_chain,
    )
