"""Overtaken changes: a full load has shown their row before they were published.

Debezium gives the rows of a load the log position at which the load began. A transaction that was
open then has lower positions, and it is published behind the load. Within a partition, a change
that stands behind the loaded row of its key is newer than this row, whatever its log position.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.checkpoints import broadcast_if_few, checkpointed
from cdc_marts.fold.columns import MESSAGE
from cdc_marts.fold.ranges import behind_loads, has_key_of

#: A partition with rows of a table.
_PARTITION = ("source_format", "table_id", "topic", "partition")


def overtaken_changes(
    new_records: DataFrame,
    *,
    records: DataFrame,
    new_loads: DataFrame,
    loads: DataFrame,
    earlier: DataFrame | None,
) -> DataFrame:
    """Return the messages of overtaken changes, with the position of the load that overtook them.

    A message may be returned again, with a higher position, when the rows of another load land.
    Tables without a key have no such messages: their rows are counted, so order does not matter.

    `new_records`: the records that no run has read; `records`: all records, including the new ones.
    Both have the columns of `int_load_following_records`. `new_loads`, `loads`: the same of
    `int_load_ranges`. `earlier`: what earlier runs returned; None in the first run.

    The result has source_format, topic, partition, offset, position and `is_revision`: whether an
    earlier run has read the message.
    """
    new_changes = _changes(new_records)
    behind = _behind(new_changes, loads).withColumn("is_revision", F.lit(False))
    if earlier is not None:
        read_before = _behind(_changes(records), new_loads).join(
            new_changes, [*MESSAGE], "left_anti"
        )
        behind = behind.unionByName(read_before.withColumn("is_revision", F.lit(True)))
    behind = checkpointed(behind)
    overtaken = _overtaken(behind, records)
    if earlier is None:
        return overtaken
    return overtaken.join(earlier, [*MESSAGE, "position"], "left_anti")


def _changes(records: DataFrame) -> DataFrame:
    """Return the changes of the stream in tables with keys."""
    return records.where("record_type = 'change' and op <> 'snapshot' and not is_keyless").select(
        *_PARTITION, "offset", "message_position", "row_key", "previous_row_key"
    )


def _behind(changes: DataFrame, loads: DataFrame) -> DataFrame:
    """Return the changes behind a loaded row of their table, of any key, with a lower position."""
    loads = checkpointed(
        loads.groupBy(*_PARTITION).agg(
            F.min("first_offset").alias("first_offset"), F.max("position").alias("load_position")
        )
    )
    return (
        changes.where(behind_loads(loads))
        .join(F.broadcast(loads), [*_PARTITION])
        .where((F.col("offset") > F.col("first_offset")) & _is_lower("message_position"))
        .drop("first_offset", "load_position")
    )


def _is_lower(position: str) -> Column:
    """Return whether a position is lower than `load_position`. A change may have no position."""
    return F.coalesce(F.col(position) < F.col("load_position"), F.lit(True))


def _overtaken(behind: DataFrame, records: DataFrame) -> DataFrame:
    """Return those of the changes that stand behind a loaded row of one of their keys."""
    keys = F.explode(F.array_compact(F.array("row_key", "previous_row_key")))
    on_keys = checkpointed(behind.withColumn("row_key", keys).drop("previous_row_key"))
    loaded_rows = (
        records.where("op = 'snapshot' and message_position is not null")
        .where(has_key_of(on_keys, "row_key"))
        .select(
            *_PARTITION,
            "row_key",
            F.col("offset").alias("loaded_offset"),
            F.col("message_position").alias("load_position"),
        )
    )
    return (
        loaded_rows.join(broadcast_if_few(on_keys), [*_PARTITION, "row_key"])
        .where((F.col("loaded_offset") < F.col("offset")) & _is_lower("message_position"))
        .groupBy(*MESSAGE, "is_revision")
        .agg(F.max("load_position").alias("position"))
        .select(*MESSAGE, "position", "is_revision")
    )
