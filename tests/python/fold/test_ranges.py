"""Conditions of literals hold for all rows that they are made from."""

from __future__ import annotations

from datetime import datetime

import pytest
from dbt.adapters.spark_session import hash_set
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.fold import ranges
from cdc_marts.fold.ranges import (
    at_positions_of,
    has_effect_on,
    has_key_of,
    in_tables_of,
    in_transactions_of,
    is_one_of,
)
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


@pytest.mark.parametrize("most_messages", [10, 2], ids=["lists", "ranges"])
def test_messages_of_several_lists(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, most_messages: int
) -> None:
    monkeypatch.setattr(ranges, "_MOST_RANGES", 2)
    monkeypatch.setattr(ranges, "_MOST_MESSAGES", most_messages)
    messages = spark.range(50).selectExpr(
        "if(id < 25, 'a', 'b') as topic", "cast(0 as int) as `partition`", "id as offset"
    )
    some = messages.where("offset in (1, 8, 9, 11, 30)")
    found = messages.where(is_one_of(some)).collect()
    assert [row.offset for row in found] == [1, 8, 9, 11, 30]


def keys_of(spark: SparkSession, *keys: str) -> DataFrame:
    return frame(
        spark,
        "source_format table_id row_key",
        [{"source_format": "canal_json", "table_id": "a", "row_key": key} for key in keys],
    )


def test_rows_with_some_keys(spark: SparkSession) -> None:
    rows = keys_of(spark, *(f"k{n}" for n in range(500)))
    of_other_table = rows.withColumn("table_id", F.lit("b"))
    some = keys_of(spark, "k1", "k7")

    found = rows.union(of_other_table).where(has_key_of(some, "row_key")).collect()

    assert {("a", "k1"), ("a", "k7")} <= {(row.table_id, row.row_key) for row in found}
    # A few others may have the same hash.
    assert len(found) < 10
    assert rows.where(has_key_of(some.where("false"), "row_key")).isEmpty()


def test_rows_with_too_many_keys_to_leave_any_out(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hash_set, "_MOST_BITS", 1)
    rows = keys_of(spark, "k1", "k2", "k3")
    assert rows.where(has_key_of(keys_of(spark, "k1", "k2"), "row_key")).count() == 3


def test_effects_on_some_keys(spark: SparkSession) -> None:
    """On the key of the record, on the one that it had before, or on that of its other half."""
    effects = frame(
        spark,
        "source_format table_id record_row_key record_previous_row_key",
        [
            {
                "source_format": "canal_json",
                "table_id": "a",
                "record_row_key": key,
                "record_previous_row_key": previous,
            }
            for key, previous in [("k1", None), ("k2", "k1"), ("k3", None), ("k4", None)]
        ],
    )
    split_update = {
        "source_format": "canal_json",
        "table_id": "a",
        "exception": "split_update",
        "row_keys": ["k3", "k1"],
        "old_row_key": "k1",
    }
    exceptional_records = frame(
        spark,
        "source_format table_id exception row_keys old_row_key",
        [split_update, {**split_update, "row_keys": ["k4", "k9"], "old_row_key": "k9"}],
    )

    found = effects.where(has_effect_on(keys_of(spark, "k1"), exceptional_records)).collect()

    assert [row.record_row_key for row in found] == ["k1", "k2", "k3"]


@pytest.mark.parametrize("most_ranges", [200, 1], ids=["few", "many"])
def test_messages_positions_and_transactions(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, most_ranges: int
) -> None:
    """Few values match alone; of many, all between the first and the last, but for messages."""
    monkeypatch.setattr(ranges, "_MOST_RANGES", most_ranges)
    monkeypatch.setattr(ranges, "_MOST_MESSAGES", 10 * most_ranges)
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
    assert found(is_one_of(some), 1) == [1, 3]
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
