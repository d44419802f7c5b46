from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.columns import KEY
from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.key_collisions import merged, no_superseded_effects, superseded_effects
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
        dbt.config.get("source_formats"),
    )
    earlier = earlier_rows(dbt, session)
    if earlier is None:
        return found
    # Effects that are no longer superseded have no `took_older_row`, so that they are deleted.
    earlier = earlier.join(keys, [*KEY], "left_semi")
    earlier = earlier.drop("took_older_row", "row_left", "stands_before")
    return merged(found.unionByName(earlier, allowMissingColumns=True))
