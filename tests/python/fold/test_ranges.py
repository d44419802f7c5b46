"""Conditions of literals hold for all rows that they are made from."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from cdc_marts.fold import ranges
from cdc_marts.fold.ranges import at_positions_of, in_tables_of, in_transactions_of, is_one_of
from cdc_marts.parsing.records import SEQUENCE
from tests.python.fold.frames import PLACES, effects_at_positions, frame

ALL = [("canal_json", "a"), ("canal_json", "b"), ("canal_json", "c"), ("dts_avro", "a")]


@pytest.mark.parametrize(
    ("most_ranges", "expected"), [(200, [ALL[0], ALL[2]]), (1, ALL[:3])], ids=["few", "many"]
)
def test_rows_of_some_tables(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    most_ranges: int,
    expected: list[tuple[str, str]],
) -> None:
    monkeypatch.setattr(ranges, "_MOST_RANGES", most_ranges)
    rows = frame(
        spark,
        "source_format table_id",
        [dict(zip(("source_format", "table_id"), one, strict=True)) for one in ALL],
    )
    some = rows.where("source_format = 'canal_json' and table_id <> 'b'")
    found = rows.where(in_tables_of(some)).collect()
    assert sorted((row.source_format, row.table_id) for row in found) == expected


def test_no_rows_are_in_no_tables(spark: SparkSession) -> None:
    rows = frame(spark, "source_format table_id", [{"source_format": "canal_json"}])
    assert rows.where(in_tables_of(rows.where("false"))).isEmpty()


@pytest.mark.parametrize("most_ranges", [200, 1], ids=["few", "many"])
def test_messages_positions_and_transactions(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, most_ranges: int
) -> None:
    """If the values are few, only these match; if they are many, all between first and last."""
    monkeypatch.setattr(ranges, "_MOST_RANGES", most_ranges)
    effects = effects_at_positions(
        spark,
        "source_format topic sequence transaction_id event_at",
        [
            {
                "source_format": "dts_avro",
                "topic": "shop",
                "sequence": (n, 0, n),
                "transaction_id": f"t{n}" if n > 3 else None,
                "event_at": None if n == 0 else datetime(2026, 1, n),
            }
            for n in range(7)
        ],
    )
    no_places = frame(spark, PLACES, [])

    def found(condition: Column | None, of: int) -> list[int]:
        assert condition is not None
        numbers = sorted(row.offset for row in effects.where(condition).collect())
        assert of in numbers
        return numbers

    some = effects.where("offset in (1, 3)")
    between = [1, 2, 3] if most_ranges == 1 else [1, 3]
    assert found(is_one_of(some), 1) == between
    assert found(at_positions_of(some, no_places), 1) == between
    # An effect without a time may be of any transaction that has no name.
    assert found(in_transactions_of(some), 1) == [0, *between]
    named = effects.where("offset in (4, 6)")
    assert found(in_transactions_of(named), 4) == ([4, 5, 6] if most_ranges == 1 else [4, 6])
    assert found(in_transactions_of(effects.where("offset = 0")), 0) == [0]


def test_no_effects_stand_at_no_position(spark: SparkSession) -> None:
    effects = effects_at_positions(
        spark, "source_format sequence transaction_id event_at", [{"sequence": (1, 0, 1)}]
    )
    none = effects.where("false")
    assert at_positions_of(none, frame(spark, PLACES, [])) is None
    assert in_transactions_of(none) is None
    nowhere = effects.withColumn("sequence", F.lit(None).cast(SEQUENCE))
    assert at_positions_of(nowhere, frame(spark, PLACES, [])) is None
