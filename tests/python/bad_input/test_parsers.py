"""Whatever a message holds: its parser does not raise, loses nothing, and says what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.bad_input.messages import SEED, Bad, bad_messages, good, huge_message, parser
from tests.python.formats.staging import OF_A_REJECT, OF_EVERY_MESSAGE, landed, rows_of
from tests.python.harness.compiled_queries import compiled_queries
from tests.python.samples.broken import broken

#: The reject codes of the contract.
CODES = {
    *("not_utf8", "malformed_json", "malformed_avro", "missing_field", "unknown_op"),
    *("missing_image", "bad_sequence", "bad_timestamp", "wrong_format"),
}
KINDS = {
    *("change", "update_before", "ddl", "transaction", "heartbeat", "tombstone", "rejected"),
}
Staged = tuple[list[Bad], dict[int, list[dict[str, Any]]]]

_staged: dict[str, Staged] = {}


@pytest.fixture(params=SOURCE_FORMATS)
def bad(request: pytest.FixtureRequest, spark: SparkSession) -> Staged:
    """Bad messages of a format, and the staging rows of each, by its place."""
    source_format = request.param
    if source_format not in _staged:
        messages = bad_messages(source_format)
        print(f"{source_format}: {len(messages):,} messages, BAD_INPUT_SEED={SEED}")
        parsed = parser(source_format)(landed(spark, [message.value for message in messages]))
        rows: dict[int, list[dict[str, Any]]] = {}
        said = [name for name in parsed.columns if name not in OF_EVERY_MESSAGE | OF_A_REJECT]
        compared = parsed.select(
            *("offset", "record_type", *OF_A_REJECT),
            F.to_json("after").alias("after"),
            F.concat_ws(" ", *(F.when(F.col(name).isNotNull(), name) for name in said)).alias(
                "said"
            ),
        )
        for row in compared.collect():
            rows.setdefault(row["offset"], []).append(row.asDict())
        _staged[source_format] = messages, rows
    return _staged[source_format]


def test_every_message_has_a_row_that_says_what_it_is(bad: Staged) -> None:
    messages, rows = bad
    assert rows.keys() == set(range(len(messages)))
    assert {row["record_type"] for of_message in rows.values() for row in of_message} <= KINDS


def test_a_rejected_message_keeps_its_bytes_and_has_a_code_and_a_reason(bad: Staged) -> None:
    messages, rows = bad
    for offset, of_message in rows.items():
        for row in of_message:
            is_rejected = row["record_type"] == "rejected"
            assert (row["reject_code"] in CODES) is is_rejected, messages[offset]
            assert bool(row["reject_reason"]) is is_rejected, messages[offset]
            assert row["value"] == (messages[offset].value if is_rejected else None)
            assert not (is_rejected and row["said"]), messages[offset]


def test_a_rejected_message_has_the_code_that_is_due(bad: Staged) -> None:
    messages, rows = bad
    wrong = {
        message.what: (rows[offset][0]["reject_code"], message.reject_code)
        for offset, message in enumerate(messages)
        if message.reject_code and rows[offset][0]["reject_code"] not in (None, message.reject_code)
    }
    assert wrong == {}


def test_what_is_no_message_is_rejected_and_what_is_one_is_read(bad: Staged) -> None:
    messages, rows = bad
    wrong = [
        (message.what, rows[offset][0]["record_type"], rows[offset][0]["reject_reason"])
        for offset, message in enumerate(messages)
        if message.is_valid is not None
        and message.is_valid is (rows[offset][0]["record_type"] == "rejected")
    ]
    assert wrong == []


def test_what_is_read_is_exact(bad: Staged) -> None:
    messages, rows = bad
    for offset, message in enumerate(messages):
        if message.row is not None:
            row = json.loads(rows[offset][0]["after"])
            assert row.pop("id") in (1, "1")
            assert row == message.row


def test_a_number_beyond_a_double_is_its_text(spark: SparkSession) -> None:
    """Beside numbers that are none, texts that look like one, and numbers within other values."""
    written = {
        "1e400": "1e400",
        "-1.5E+309": "-1.5E+309",
        "17e308": "17e308",
        '["1e400", 1e400, {"k": 1e4000}]': ["1e400", "1e400", {"k": "1e4000"}],
        '{"a": 1e300, "b": 0.0001e310, "c": -1e999}': {"a": 1e300, "b": 1e306, "c": "-1e999"},
        '{"a": "\\\\\\": 1e400,", "b": 1e400}': {"a": '\\": 1e400,', "b": "1e400"},
        '{"a": 1e400, "b": ' + "9" * 60 + "}": {"a": "1e400", "b": "9" * 60},
    }
    value = good("lindorm_debezium", status="paid")
    values = [value.replace(b'"paid"', json.encode()) for json in written]
    rows = rows_of(parser("lindorm_debezium")(landed(spark, values)))
    statuses = [row["after"]["status"] for row in rows]
    assert statuses == list(written.values())


def test_no_code_is_without_a_format_that_gives_it() -> None:
    assert {case.reject_code for name in SOURCE_FORMATS for case in broken(name)} == CODES


@pytest.mark.long
@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_a_message_of_20_megabytes_is_read(spark: SparkSession, source_format: str) -> None:
    """Compiled, because each interpreted projection would keep a buffer for the whole row."""
    size = 20_000_000
    values = [huge_message(source_format, size), good(source_format, status="new")]
    parsed = parser(source_format)(landed(spark, values))
    lengths = parsed.orderBy("offset").select(
        F.length(F.variant_get("after", "$.status", "string")).alias("length")
    )
    with compiled_queries(spark):
        assert [row["length"] for row in lengths.collect()] == [size, 3]
