from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.key_collisions import no_superseded_effects, superseded_effects, with_earlier
from cdc_marts.fold.ranges import effects_on, has_key_of, in_tables_of


def model(dbt, session):
    keys = dbt.new_rows(dbt.ref("int_colliding_keys")).distinct()
    if keys.isEmpty():
        return no_superseded_effects(keys)
    # DataFrames that are used several times get a checkpoint, so that Spark plans them once.
    keys = checkpointed(keys)
    effects = effects_on(
        keys, dbt.rows_so_far(dbt.ref("int_row_effects")), dbt.ref("int_exceptional_records")
    )
    effects = checkpointed(effects.drop("before", "after"))
    events = (
        dbt.ref("int_events")
        .where(in_tables_of(keys))
        .where(has_key_of(keys, "row_key", "previous_row_key"))
        .join(effects, ["source_format", "event_id"], "left_semi")
    )
    found = superseded_effects(
        effects,
        events,
        dbt.ref("int_split_key_changes"),
        dbt.ref("int_truncations"),
    )
    return with_earlier(found, keys, earlier_rows(dbt, session))
