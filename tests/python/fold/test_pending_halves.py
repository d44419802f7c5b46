"""Which halves of updates wait for their other half."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from cdc_marts.fold.pending_halves import pending_halves
from tests.python.fold.frames import frame

RECORDS = (
    "source_format topic partition offset row_index record_type op pairing_id delivery_position"
)
PENDING = "source_format topic partition offset row_index pairing_id"

Record = dict[str, Any]


def half(offset: int, pairing_id: str, *, before: bool = True) -> Record:
    return {
        "source_format": "dataworks_json",
        "topic": "shop",
        "partition": 0,
        "offset": offset,
        "row_index": 0,
        "record_type": "update_before" if before else "change",
        "op": "update",
        "pairing_id": pairing_id,
        "delivery_position": 7,
    }


def waiting(
    spark: SparkSession,
    new: list[Record],
    *,
    earlier: list[Record] | None = None,
    known: list[Record] | None = None,
    redeliveries: list[Record] = (),
) -> dict[int, str | None]:
    """Offset of a half -> its pair; `redeliveries`: new ones."""
    repeated = frame(spark, RECORDS, redeliveries)
    found = pending_halves(
        frame(spark, RECORDS, new),
        records=frame(spark, RECORDS, [*(earlier or []), *new]),
        new_redeliveries=repeated,
        redeliveries=repeated,
        earlier=None if known is None else frame(spark, PENDING, known),
    ).collect()
    return {row.offset: row.pairing_id for row in found}


def test_a_half_waits_until_the_other_lands(spark: SparkSession) -> None:
    halves = [half(1, "whole"), half(2, "whole", before=False), half(3, "half")]
    assert waiting(spark, halves) == {3: "half"}


def test_a_redelivery_waits_for_nothing(spark: SparkSession) -> None:
    first, again = half(3, "half"), half(4, "half")
    assert waiting(spark, [first, again], redeliveries=[again]) == {3: "half"}


def test_a_later_run_ends_the_wait(spark: SparkSession) -> None:
    known = [half(1, "ends"), half(2, "goes on"), half(3, "repeats another")]
    found = waiting(
        spark,
        [half(9, "ends", before=False)],
        earlier=known,
        known=known,
        redeliveries=[known[2]],
    )
    assert found == {1: None, 3: None}


def test_a_half_that_lands_last_does_not_wait(spark: SparkSession) -> None:
    after = half(1, "late", before=False)
    assert waiting(spark, [half(9, "late"), half(10, "new")], earlier=[after], known=[]) == {
        10: "new"
    }
