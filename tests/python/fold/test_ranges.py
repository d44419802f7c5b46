"""Conditions of literals hold for all rows that they are made from."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from cdc_marts.fold import ranges
from cdc_marts.fold.ranges import in_tables_of
from tests.python.fold.frames import frame

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
