"""Pending halves: `update_before` records whose `update_after` has not landed."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.ranges import near_deliveries
from cdc_marts.identifying_columns import MESSAGE

_RECORD = (*MESSAGE, "row_index")
_PAIR = ("source_format", "pairing_id")


def pending_halves(
    new_records: DataFrame,
    *,
    records: DataFrame,
    new_redeliveries: DataFrame,
    redeliveries: DataFrame,
    earlier: DataFrame | None,
) -> DataFrame:
    """Return the pending halves that are new, and the earlier ones that are no longer pending.

    `new_records`: the records that no run has read; `records`: all records, including the new ones.
    Both have the columns of `int_split_records`. `new_redeliveries`, `redeliveries`: the
    redeliveries among them, as in `int_exceptional_records`. `earlier`: what earlier runs returned;
    None in the first run.

    The result has source_format, topic, partition, offset, row_index, pairing_id. `pairing_id` is
    null for an earlier half that is no longer pending.
    """
    new_halves = _halves(new_records)
    if earlier is not None:
        # Used several times: with a checkpoint, Spark plans it once.
        new_halves = checkpointed(new_halves)
    waiting = new_halves.where("record_type = 'update_before'")
    if earlier is None:
        return _without_partner(_delivered_first(waiting, redeliveries), new_halves)
    near = near_deliveries(waiting)
    found = _without_partner(
        _delivered_first(waiting, redeliveries.where(near)),
        _halves(records.where(near)).unionByName(new_halves),
    )
    still_waiting = _without_partner(_delivered_first(earlier, new_redeliveries), new_halves)
    waits_no_more = earlier.join(still_waiting, [*_RECORD], "left_anti").withColumn(
        "pairing_id", F.lit(None).cast("string")
    )
    return found.unionByName(waits_no_more)


def _halves(records: DataFrame) -> DataFrame:
    return records.where("pairing_id is not null").select(
        *_RECORD, "pairing_id", "record_type", "op", "delivery_position"
    )


def _delivered_first(halves: DataFrame, redeliveries: DataFrame) -> DataFrame:
    return halves.join(redeliveries, [*_RECORD], "left_anti")


def _without_partner(halves: DataFrame, records: DataFrame) -> DataFrame:
    updates = records.where("record_type = 'change'").select(*_PAIR)
    return halves.join(updates, [*_PAIR], "left_anti").select(*_RECORD, "pairing_id")
