"""Messages in, staging rows out: how parser tests land messages and read a parser's rows."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

LANDING = (
    "topic string, `partition` int, offset bigint, timestamp timestamp, key binary, value binary,"
    " landed_at timestamp, landing_commit bigint"
)
LANDED_AT = dt.datetime(2026, 1, 1)
LANDING_COMMIT = 7
#: What stands for the topic `topic` in a sequence: its `xxhash64`.
TOPIC_NUMBER = -7864498171204120772
#: The columns of a message that says nothing, and those of one that was rejected besides.
OF_EVERY_MESSAGE = {
    *("source_format", "topic", "partition", "offset", "row_index", "record_type"),
    *("landed_at", "landing_commit"),
}
OF_A_REJECT = {"reject_code", "reject_reason", "value"}
#: Puts messages above the test that gets their staging rows.
said = pytest.mark.said


def each_said(messages: Mapping[str, Any], **settings: Any) -> pytest.MarkDecorator:
    """The test is run for each of these messages, and has its name."""
    groups = {name: [message] for name, message in messages.items()}
    return each_said_together(groups, **settings)


def each_said_together(
    groups: Mapping[str, Iterable[Any]], **settings: Any
) -> pytest.MarkDecorator:
    """The test is run for each of these groups of messages, and has its name."""
    return pytest.mark.parametrize(
        (),
        [
            pytest.param(id=name, marks=said(*messages, **settings))
            for name, messages in groups.items()
        ],
    )


def each_is_rejected(
    cases: Mapping[str, tuple[str, Any]], **settings: Any
) -> Callable[[Mapping[str, Any], bytes, str], None]:
    """A test that each of these messages is rejected, with its reject code; it has its name."""

    @pytest.mark.parametrize(
        "reject_code",
        [
            pytest.param(code, id=name, marks=said(message, **settings))
            for name, (code, message) in cases.items()
        ],
    )
    def is_rejected(row: Mapping[str, Any], sent: bytes, reject_code: str) -> None:
        check_is_rejected(row, sent, reject_code)

    return is_rejected


def check_is_rejected(row: Mapping[str, Any], sent: bytes, reject_code: str) -> None:
    """Check that a row has the bytes of its message, the code and a reason, and nothing else."""
    assert (row["record_type"], row["reject_code"]) == ("rejected", reject_code)
    assert row["reject_reason"]
    assert row["value"] == sent
    assert {name for name, held in row.items() if held is not None} == (
        OF_EVERY_MESSAGE | OF_A_REJECT
    )


def check_are_one_event(rows: Sequence[Mapping[str, Any]]) -> None:
    """Check that some rows have one identity (`event_id`): they are deliveries of one event."""
    ids = {row["event_id"] for row in rows}
    assert None not in ids
    assert len(ids) == 1 < len(rows)


def check_are_different_events(rows: Sequence[Mapping[str, Any]]) -> None:
    """Check that each of some rows has an identity (`event_id`) of its own."""
    ids = {row["event_id"] for row in rows}
    assert None not in ids
    assert len(ids) == len(rows) > 1


def landed(
    spark: SparkSession,
    values: Iterable[Any],
    keys: Iterable[Any] | None = None,
    topic: str | Iterable[str] = "topic",
) -> DataFrame:
    """A landing table of these values, offsets from 0, of one topic or each of its own.

    A value is bytes, text, None (a tombstone), or anything else, written as JSON.
    """
    values = list(values)
    keys = keys if keys is not None else [None] * len(values)
    topics = [topic] * len(values) if isinstance(topic, str) else topic
    rows = [
        (topic_, 0, offset, LANDED_AT, bytes_of(key), bytes_of(value), LANDED_AT, LANDING_COMMIT)
        for offset, (key, value, topic_) in enumerate(zip(keys, values, topics, strict=True))
    ]
    return spark.createDataFrame(rows, LANDING)


def rows_of(staging: DataFrame) -> list[dict[str, Any]]:
    """Staging rows in landing order as plain dicts; images as parsed JSON.

    The columns of plain types that say again what arrays and structs say are compared with these,
    and left out.
    """
    rows = (
        staging.withColumn("before", F.to_json("before"))
        .withColumn("after", F.to_json("after"))
        .orderBy("topic", "partition", "offset", "row_index")
        .collect()
    )
    plain = [row.asDict(recursive=True) for row in rows]
    for row in plain:
        for image in ("before", "after"):
            row[image] = None if row[image] is None else json.loads(row[image])
    return [_without_plain_columns(row) for row in plain]


def _without_plain_columns(row: dict[str, Any]) -> dict[str, Any]:
    sequence, names = row["sequence"] or {}, row["unavailable_names"]
    members = ("position", "transaction_index", "row_index")
    said = {
        **{f"message_{member}": sequence.get(member) for member in members},
        "is_keyless": None if row["key_columns"] is None else row["key_columns"] == [],
        "unavailable_names": names if row["unavailable_columns"] else None,
    }
    assert {name: row[name] for name in said} == said
    assert json.loads(names or "[]") == (row["unavailable_columns"] or [])
    assert (sequence == {}) == (row["message_row_index"] is None)
    return {name: value for name, value in row.items() if name not in said}


def plan_of(staging: DataFrame) -> str:
    """The physical plan, whole: by default Spark cuts long lists, where a repeated parse hides."""
    conf = staging.sparkSession.conf
    limit = "spark.sql.debug.maxToStringFields"
    usual = conf.get(limit)
    conf.set(limit, "100000")
    try:
        return staging._jdf.queryExecution().executedPlan().toString()
    finally:
        conf.set(limit, usual)


def bytes_of(value: Any) -> bytearray | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return bytearray(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return bytearray(text.encode())


def members(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def utc(millis: int | str) -> dt.datetime:
    return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=int(millis))


def row_change(
    source_format: str, position: Any, of_table: Mapping[str, Any], **own: Any
) -> dict[str, Any]:
    """What `without_ids` leaves of a row change: `of_table` is what all have, `own` what it has."""
    return {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": source_format,
        "topic": "topic",
        "partition": 0,
        "row_index": 0,
        "schema_name": None,
        "op": None,
        "previous_row_key": None,
        "before": None,
        "after": None,
        "unavailable_columns": [],
        "lob_columns": None,
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "transaction_id": None,
        "sequence": {
            "position": Decimal(position),
            "transaction_index": TOPIC_NUMBER,
            "partition": 0,
            "row_index": 0,
        },
        "delivery_position": Decimal(position),
        "pairing_id": None,
        "ddl_text": None,
        "ddl_meta": None,
        "is_truncation": False,
        "table_changes": None,
        "lists_all_columns": lists_all_columns(own.get("op")),
        "value": None,
        **of_table,
        **own,
    }


def without_ids(row: dict[str, Any]) -> dict[str, Any]:
    """What a message says: the row without its offset and what staging adds, of StreamX formats."""
    added = ("event_id", "schema_id", "column_parameters", "offset")
    assert row["event_id"] and row["column_parameters"] is None
    sequence = dict(row["sequence"])
    assert sequence.pop("offset") == row["offset"]
    kept = {name: value for name, value in row.items() if name not in added}
    return {**kept, "sequence": sequence}


def lists_all_columns(op: str | None) -> bool | None:
    """What staging says of a row's list of columns where the parser does not know better."""
    return None if op is None else op in ("insert", "snapshot")
