"""Key chains: the keys that a row had one after another."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdc_marts.checkpoints import broadcast_if_few, checkpointed
from cdc_marts.identifying_columns import KEY, TABLE


def keys_of_chains(
    keys: DataFrame, key_changes: DataFrame, split_key_changes: DataFrame, longest_key_chain: int
) -> tuple[DataFrame, DataFrame]:
    """Return the keys whose rows may have values from some keys, and earlier keys of these rows.

    The first result has the given keys, and the keys that their rows got later. A row takes its
    values over at most `longest_key_chain` key changes. To know from which of the rows on the
    earliest key it takes them, the key changes to this key are needed too. So the second result
    goes one key change further back.

    `keys`: source_format, table_id, row_key, each once. `key_changes`, `split_key_changes`: the
    models.

    Both results have the columns of `keys`, each key once. The second contains the first.
    """
    changes = checkpointed(_old_and_new_keys(key_changes, split_key_changes))
    found = checkpointed(keys.select(*KEY))
    if changes.isEmpty():
        return found, found
    later = _followed(found, _backwards(changes), longest_key_chain)
    return later, _followed(later, changes, longest_key_chain + 1)


def _followed(keys: DataFrame, links: DataFrame, most: int) -> DataFrame:
    """Return some keys, and the keys to which at most `most` links lead from them.

    A link leads from `row_key` to `other_key`.
    """
    found = newly_found = keys
    for _ in range(most):
        linked = links.join(broadcast_if_few(newly_found), [*KEY], "left_semi")
        linked = linked.select(*TABLE, F.col("other_key").alias("row_key")).distinct()
        newly_found = checkpointed(linked.join(found, [*KEY], "left_anti"))
        if newly_found.isEmpty():
            break
        found = found.unionByName(newly_found)
    return keys if found is keys else checkpointed(found)


def _old_and_new_keys(key_changes: DataFrame, split_key_changes: DataFrame) -> DataFrame:
    """Return source_format, table_id, row_key (new) and other_key (old) of each key change."""
    event = [*TABLE, "event_id"]
    changed = key_changes.where("is_key_change")
    written = changed.where("effect = 'upsert'").select(*event, "row_key")
    deleted = changed.where("effect = 'delete'").select(*event, F.col("row_key").alias("other_key"))
    of_pairs = split_key_changes.select(
        *TABLE, F.col("new_key").alias("row_key"), F.col("old_key").alias("other_key")
    )
    return written.join(deleted, event).drop("event_id").unionByName(of_pairs)


def _backwards(changes: DataFrame) -> DataFrame:
    return changes.select(
        *TABLE, F.col("other_key").alias("row_key"), F.col("row_key").alias("other_key")
    )
