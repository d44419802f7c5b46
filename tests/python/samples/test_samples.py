"""The samples: what their parsers make of them, and that the seeds hold them."""

from __future__ import annotations

import datetime as dt
import importlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.landing.envelopes import Message
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.encoders import datahub_tuple
from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import instant, one_by_one
from tests.python.formats.staging import LANDED_AT, LANDING, LANDING_COMMIT, rows_of
from tests.python.samples import broken, vendor_examples
from tests.python.samples.database import Database, Source
from tests.python.samples.declarations import key_settings
from tests.python.samples.files import csv_of, path_of, read_csv, samples
from tests.python.samples.replay import StagingRow, replay
from tests.python.samples.shop import day_of, final_rows
from tests.python.samples.shop_messages import shop

TABLES = ("customers", "orders", "payments")

_IN_ALL_FORMATS = {"change", "tombstone", "insert", "update", "delete"}
_IN_LOGS_OF_ALL_KINDS = {"ddl", "heartbeat", "truncation", "unavailable columns"}
#: What the shop's messages contain besides, as far as each format has words for it.
IN_FORMAT = {
    "lindorm_debezium": {"snapshot"},
    "dataworks_json": _IN_LOGS_OF_ALL_KINDS
    | {"snapshot", "transaction", "update_before", "key change"},
    "dts_avro": _IN_LOGS_OF_ALL_KINDS | {"snapshot", "transaction", "key change"},
    "shareplex_json": {"ddl", "truncation", "update_before", "key change"},
    "canal_json": _IN_LOGS_OF_ALL_KINDS
    | {"snapshot", "transaction", "key change", "several rows in a message"},
    "cdl_json": {"heartbeat", "unavailable columns", "key change"},
    # Its key changes are a delete and an insert.
    "cdl_debezium_json": _IN_LOGS_OF_ALL_KINDS | {"snapshot"},
    "datahub_tuple": {"snapshot", "update_before", "key change"},
    # What a BLOB message lists and its image lacks is NULL: what the log lacks is not listed.
    "datahub_blob": {
        *("ddl", "heartbeat", "truncation", "snapshot", "transaction", "update_before"),
        "key change",
    },
}

#: The encoders' variants, one by one; the samples mix them.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "lindorm_debezium": [{"with_schema": False}, {"with_key": False}, {"with_key_schema": True}],
    "dataworks_json": [
        {"split_updates": True},
        {"split_updates": False, "db_type": "Oracle"},
        {"lists_image_only": True},
    ],
    "dts_avro": [
        {"with_born_timestamp": True},
        {"times_in_tags": True},
        {"charset": "gbk", "source_type": "Oracle"},
        {"charset": "latin1"},
    ],
    "shareplex_json": [
        {"long_ops": True},
        {"split_updates": True},
        {"with_rowid": False, "long_ops": True, "split_updates": True},
    ],
    "canal_json": [
        {"swapped": True},
        {"swapped": True, "annotated": True, "data_as_object": True},
        {"whole_old": True, "ddl_type": "DDL"},
        {"data_as_object": True},
    ],
    "cdl_json": [
        {"with_before": False, "lsn_first": False},
        {"with_schema": False},
        {"with_placeholders": True},
    ],
    "cdl_debezium_json": [
        {"with_schema": False},
        {"full_before": True, "snapshot_as_insert": True},
        {"full_before": True, "with_schema": False},
        {"snapshot_flag": "first", "with_snapshot_lsn": False},
    ],
    "datahub_tuple": [{"dialect": dialect} for dialect in datahub_tuple.DIALECTS],
    "datahub_blob": [{"split_updates": False}, {"update_op": "UPDATE_AFTER"}],
}
#: For variants that do not name the key which the samples name.
_KEYS_OF_VARIANTS = {
    "shop.default.customers": ["id"],
    "shop.default.orders": ["id"],
    "shop.default.payments": ["order_id", "number"],
    "SHOP.PAYMENTS": ["ORDER_ID", "NUMBER"],
    "shop.customers": ["id"],
    "orders": ["id"],
    "payments": ["order_id", "number"],
}


@pytest.fixture(scope="module", params=SOURCE_FORMATS)
def source_format(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def staged(spark: SparkSession, source_format: str) -> list[StagingRow]:
    """The staging rows of a format's samples, read from its CSV file, and of all its variants."""
    variants = VARIANTS[source_format]
    messages = read_csv(path_of(source_format))
    for variant in variants:
        messages += _in_variant(source_format, variant)
    landed = [
        (
            *message[:3],
            instant(message.timestamp or 0),
            None if message.key is None else bytearray(message.key),
            None if message.value is None else bytearray(message.value),
            LANDED_AT,
            LANDING_COMMIT,
        )
        for message in messages
    ]
    parser = importlib.import_module(f"cdc_marts.formats.{source_format}")
    settings = {"key_settings": {**_KEYS_OF_VARIANTS, **key_settings(source_format)}}
    if source_format == "canal_json":
        settings["swapped_topics"] = {str(v): None for v in variants if v.get("swapped")}
    return rows_of(parser.parse(spark.createDataFrame(landed, LANDING), **settings))


@pytest.fixture(scope="module")
def day(source_format: str) -> Database:
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


def test_the_shops_messages_come_to_its_rows(
    source_format: str, staged: list[StagingRow], day: Database
) -> None:
    _assert_rows(source_format, _of_shop(staged), day)


def test_the_shops_messages_come_to_its_rows_in_every_variant(
    source_format: str, staged: list[StagingRow], day: Database
) -> None:
    for variant in VARIANTS[source_format]:
        _assert_rows(source_format, _of_topic(staged, str(variant)), day)


def test_a_redelivered_change_has_the_event_id_of_the_first_delivery(
    source_format: str, staged: list[StagingRow]
) -> None:
    events = [row["event_id"] for row in _of_shop(staged) if row["record_type"] == "change"]
    # Canal has no mark by which a repetition shows.
    assert len(events) - len(set(events)) == (0 if source_format == "canal_json" else 1)


def test_the_shop_tells_all_that_the_format_has_words_for(
    source_format: str, staged: list[StagingRow]
) -> None:
    rows = _of_shop(staged)
    keys_before = {
        row["pairing_id"]: row["row_key"] for row in rows if row["record_type"] == "update_before"
    }
    found = {row["record_type"] for row in rows} | {row["op"] for row in rows if row["op"]}
    for row in rows:
        key_before = row["previous_row_key"] or keys_before.get(row["pairing_id"])
        facts = {
            "truncation": row["is_truncation"],
            "unavailable columns": row["unavailable_columns"],
            "key change": key_before not in (None, row["row_key"]),
            "several rows in a message": row["row_index"] > 0,
        }
        found |= {fact for fact, is_there in facts.items() if is_there}
    assert found == _IN_ALL_FORMATS | IN_FORMAT[source_format]


def _of_topic(rows: list[StagingRow], topic: str) -> list[StagingRow]:
    return [row for row in rows if row["topic"] == topic]


def _of_shop(rows: list[StagingRow]) -> list[StagingRow]:
    return [row for row in rows if row["topic"].split(".")[0] == "shop"]


def _in_variant(source_format: str, variant: dict[str, Any]) -> list[Message]:
    """The shop's messages in one variant of the encoder, in a topic of their own."""
    changes = shop(source_format).log
    if source_format != "canal_json" or variant.get("data_as_object"):
        changes = one_by_one(changes)
    messages = [
        message for change in changes for message in ENCODE[source_format](change, **variant)
    ]
    return [
        Message(str(variant), 0, offset, None, message.key, message.value)
        for offset, message in enumerate(messages)
    ]


def _assert_rows(source_format: str, staged: list[StagingRow], day: Database) -> None:
    """The staging rows come to what the shop has at the end of its day."""
    assert [row["reject_reason"] for row in staged if row["reject_reason"]] == []
    tables = {table_id.lower(): rows for table_id, rows in replay(staged).items()}
    for table in TABLES:
        (staged_rows,) = (rows for table_id, rows in tables.items() if table_id.endswith(table))
        read = [_plain(row, day.column_types(table)) for row in staged_rows]
        expected = day.rows(table)
        if source_format == "lindorm_debezium":
            # Its rows are sparse: a NULL is a column that is not there.
            expected = [_without_nulls(row) for row in expected]
        assert _sorted(read) == _sorted(expected)


def _plain(row: Mapping[str, Any], column_types: Mapping[str, str]) -> dict[str, Any]:
    """A row in a format's notation -> in that of the shop."""
    return {
        name.lower(): None if value is None else _READ[column_types[name.lower()]](value)
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
