"""The samples: what their parsers make of them, and that the seeds hold them."""

from __future__ import annotations

import datetime as dt
import importlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import SOURCE_FORMATS
from tests.python.encoders.changes import instant
from tests.python.formats.staging import LANDED_AT, LANDING, rows_of
from tests.python.samples import broken, vendor_examples
from tests.python.samples.files import csv_of, path_of, read_csv, samples
from tests.python.samples.key_columns import KEY_COLUMNS
from tests.python.samples.replay import StagingRow, replay
from tests.python.samples.shop import Shop, Source, day_of, final_rows
from tests.python.samples.shop_messages import shop

TABLES = ("customers", "orders", "payments")


@pytest.fixture(scope="module", params=SOURCE_FORMATS)
def source_format(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def staged(spark: SparkSession, source_format: str) -> list[StagingRow]:
    """The staging rows of a format's samples, read from its CSV file."""
    landed = [
        (
            *message[:3],
            instant(message.timestamp or 0),
            None if message.key is None else bytearray(message.key),
            None if message.value is None else bytearray(message.value),
            LANDED_AT,
        )
        for message in read_csv(path_of(source_format))
    ]
    parser = importlib.import_module(f"cdc_marts.formats.{source_format}")
    messages = spark.createDataFrame(landed, LANDING)
    return rows_of(parser.parse(messages, key_settings=KEY_COLUMNS.get(source_format)))


@pytest.fixture(scope="module")
def day(source_format: str) -> Shop:
    return shop(source_format)


def test_the_shops_day_ends_as_it_is_told() -> None:
    day = day_of(Source())
    assert {table: day.rows(table) for table in TABLES} == final_rows()


def test_the_seed_holds_the_samples(source_format: str) -> None:
    written = path_of(source_format).read_text("utf-8")
    assert written == csv_of(samples(source_format)), "run `uv run python -m tests.python.samples`"


def test_the_seed_is_read_as_it_was_written(source_format: str) -> None:
    assert read_csv(path_of(source_format)) == samples(source_format)


def test_every_vendor_example_is_what_its_page_says(
    source_format: str, staged: list[StagingRow]
) -> None:
    expected = [
        (example.shows, example.record_type, example.op)
        for example in vendor_examples.vendor_examples(source_format)
    ]
    rows = _of_topic(staged, vendor_examples.TOPIC)
    assert [
        (shows, row["record_type"], row["op"])
        for (shows, _, _), row in zip(expected, rows, strict=True)
    ] == expected


def test_every_broken_message_has_its_reject_code(
    source_format: str, staged: list[StagingRow]
) -> None:
    expected = [(case.what, case.reject_code) for case in broken.broken(source_format)]
    rows = _of_topic(staged, broken.TOPIC)
    assert [
        (what, row["reject_code"]) for (what, _), row in zip(expected, rows, strict=True)
    ] == expected


def test_nothing_of_the_shop_is_rejected(staged: list[StagingRow]) -> None:
    reasons = [row["reject_reason"] for row in _of_shop(staged) if row["reject_reason"]]
    assert reasons == []


def test_the_shops_messages_come_to_its_rows(
    source_format: str, staged: list[StagingRow], day: Shop
) -> None:
    tables = {_lower(table): rows for table, rows in replay(_of_shop(staged)).items()}
    for table in TABLES:
        (told,) = (rows for table_id, rows in tables.items() if table_id.endswith(table))
        read = [_plain(row, day.column_types(table)) for row in told]
        expected = day.rows(table)
        if source_format == "lindorm_debezium":
            # Its rows are sparse: a NULL is a column that is not there.
            expected = [_without_nulls(row) for row in expected]
        assert _sorted(read) == _sorted(expected)


def test_a_redelivered_change_has_the_event_id_of_the_first_delivery(
    source_format: str, staged: list[StagingRow]
) -> None:
    events = [row["event_id"] for row in _of_shop(staged) if row["record_type"] == "change"]
    # Canal has no mark by which a repetition shows.
    assert len(events) - len(set(events)) == (0 if source_format == "canal_json" else 1)


def test_the_shop_has_a_tombstone(staged: list[StagingRow]) -> None:
    assert any(row["record_type"] == "tombstone" for row in _of_shop(staged))


def _of_topic(rows: list[StagingRow], topic: str) -> list[StagingRow]:
    return [row for row in rows if row["topic"] == topic]


def _of_shop(rows: list[StagingRow]) -> list[StagingRow]:
    return [row for row in rows if row["topic"] not in (vendor_examples.TOPIC, broken.TOPIC)]


def _plain(row: Mapping[str, Any], column_types: Mapping[str, str]) -> dict[str, Any]:
    """A row in a format's notation -> in that of the shop."""
    return {
        _lower(name): None if value is None else _READ[column_types[_lower(name)]](value)
        for name, value in row.items()
    }


def _moment(value: Any) -> dt.datetime:
    """Epoch milliseconds, or text."""
    return instant(value) if isinstance(value, int) else dt.datetime.fromisoformat(value)


_READ = {
    "long": int,
    "text": str,
    "decimal": lambda value: Decimal(str(value)),
    "boolean": lambda value: value in (True, 1, "1"),
    "timestamp": _moment,
}


def _without_nulls(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str(sorted(row.items(), key=str)))


def _lower(name: str) -> str:
    return name.lower()
