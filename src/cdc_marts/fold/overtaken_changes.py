"""Overtaken changes: they stand behind a row or a delete that has a higher log position.

Debezium gives the rows of a load the log position at which the load began. A transaction that was
open then has lower positions, and it is published behind the load. Within a partition, a change
that stands behind the loaded row of its key is newer than this row, whatever its log position.

The rows of an incremental snapshot have no position. Such a row, too, is newer than the loaded row
of its key that stands before it: of two loads, the newer one counts.

A load that repairs its table ends all rows up to the position of the repair, also rows that it does
not contain. The open transaction may have inserted such a row, or moved it to another key. So
behind such a load, changes on all keys are newer, if the repair would end them.

An insert that waited for the delete of its key is the third case (`waiting_inserts.py`).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.checkpoints import broadcast_if_few, checkpointed
from cdc_marts.fold.ranges import behind_loads, has_key_of
from cdc_marts.fold.rules import is_of_format_that
from cdc_marts.fold.waiting_inserts import waiting_inserts
from cdc_marts.identifying_columns import MESSAGE

#: A partition with rows of a table.
_PARTITION = ("source_format", "table_id", "topic", "partition")


def overtaken_changes(
    new_records: DataFrame,
    *,
    records: DataFrame,
    new_loads: DataFrame,
    loads: DataFrame,
    new_reloaded: DataFrame,
    reloaded: DataFrame,
    earlier: DataFrame | None,
) -> DataFrame:
    """Return the messages of overtaken changes, with the positions that they take.

    It is the position of the loaded row of their key, or the first one that a repair does not end,
    or the first one after the delete for which they waited. A message may be returned again, with a
    higher position, when the rows of another load land, or another delete.
    Tables without a key have such messages only behind a load that repairs them: otherwise their
    rows are counted, so order does not matter.

    `new_records`: the records that no run has read; `records`: all records, including the new ones.
    Both have the columns of `int_commit_ordered_records`. `new_loads`, `loads`: the same of
    `int_load_ranges`; `new_reloaded`, `reloaded`: the same of `int_reloaded_messages`. `earlier`:
    what earlier runs returned; None in the first run.

    The result has source_format, topic, partition, offset, position and `is_revision`: whether an
    earlier run has read the message.
    """
    repairs = checkpointed(_repairs(reloaded))
    new_changes = _changes(new_records)
    behind = _behind(new_changes, loads.unionByName(repairs))
    behind = behind.withColumn("is_revision", F.lit(False))
    if earlier is not None:
        new_loads = new_loads.unionByName(_repairs(new_reloaded))
        read_before = _behind(_changes(records), new_loads).join(
            new_changes, [*MESSAGE], "left_anti"
        )
        behind = behind.unionByName(read_before.withColumn("is_revision", F.lit(True)))
    behind = checkpointed(behind)
    overtaken = (
        _behind_loaded_rows(behind, records)
        .unionByName(_behind_repairs(behind, repairs))
        .withColumnRenamed("load_position", "position")
        .unionByName(waiting_inserts(new_records, None if earlier is None else records))
        .groupBy(*MESSAGE, "is_revision")
        .agg(F.max("position").alias("position"))
        .select(*MESSAGE, "position", "is_revision")
    )
    return overtaken if earlier is None else _risen(overtaken, earlier)


def _risen(overtaken: DataFrame, earlier: DataFrame) -> DataFrame:
    """Return the messages that earlier runs did not return with this position or a higher one."""
    is_known = [F.col(f"now.{name}") == F.col(f"before.{name}") for name in MESSAGE]
    is_known.append(F.col("now.position") <= F.col("before.position"))
    return overtaken.alias("now").join(earlier.alias("before"), is_known, "left_anti")


def _changes(records: DataFrame) -> DataFrame:
    """Return the changes of the stream, and loaded rows without a position."""
    is_loaded = F.col("op") == "snapshot"
    return (
        records.where("record_type = 'change'")
        .where(~is_loaded | F.col("message_position").isNull())
        .select(
            *_PARTITION,
            "offset",
            "message_position",
            "is_keyless",
            "row_key",
            "previous_row_key",
            is_loaded.alias("is_loaded"),
        )
    )


def _repairs(reloaded: DataFrame) -> DataFrame:
    """Return where the loads that repair tables begin, with the columns of `int_load_ranges`.

    Their position is the first one that the repair does not end. A load with a lower position than
    the repair comes from a new server: what is behind it does not come from open transactions.
    Debezium's incremental snapshots have no position. Without changes before the load, the repair
    has none: it ends no change.
    """
    after_repair = (F.col("position") + 1).cast("decimal(38,0)")
    return (
        reloaded.where(is_of_format_that("follows_loads"))
        .where("position is not null and coalesce(message_position >= position, true)")
        .groupBy(*_PARTITION, after_repair.alias("position"))
        .agg(F.min("offset").alias("first_offset"))
        .select(*_PARTITION, "first_offset", "position")
    )


def _behind(changes: DataFrame, loads: DataFrame) -> DataFrame:
    """Return the changes behind a loaded row of their table, of any key, with a lower position.

    `loads`: also those of repairs.
    """
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


def _behind_loaded_rows(behind: DataFrame, records: DataFrame) -> DataFrame:
    """Return those of the changes that stand behind a loaded row of one of their keys."""
    keys = F.explode(F.array_compact(F.array("row_key", "previous_row_key")))
    on_keys = checkpointed(
        behind.where("not is_keyless").withColumn("row_key", keys).drop("previous_row_key")
    )
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
        .select(*MESSAGE, "is_revision", "load_position")
    )


def _behind_repairs(behind: DataFrame, repairs: DataFrame) -> DataFrame:
    """Return those of the changes that stand behind a load, and that its repair would end.

    Loaded rows are not among them: the repair gives the rows of its load their place.
    """
    loads = repairs.withColumnRenamed("position", "load_position")
    return (
        behind.where("not is_loaded")
        .join(F.broadcast(loads), [*_PARTITION])
        .where((F.col("first_offset") < F.col("offset")) & _is_lower("message_position"))
        .select(*MESSAGE, "is_revision", "load_position")
    )
