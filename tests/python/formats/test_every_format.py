"""What is true of every format."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from cdc_marts.source_formats import SOURCE_FORMATS, has_trait, type_systems_in
from tests.python.bad_input.messages import TEXTS, good, parser
from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Change,
    Ddl,
    Message,
    Place,
    RowChange,
    Table,
    json_bytes,
)
from tests.python.formats.connect import enveloped
from tests.python.formats.staging import OF_EVERY_MESSAGE, landed, rows_of
from tests.python.oracle.traits import TRAITS

Rows = list[dict[str, Any]]

ORDERS = Table("orders", {"id": "long", "status": "text"}, ("id",))
ODD = Table("odd", dict.fromkeys([*TEXTS, "z"], "text"), TEXTS)
ODD_ROW = {name: name for name in ODD.columns}
#: The project's keys, for the formats whose messages name none.
KEY_SETTINGS = {
    f"{database}{table.name}": list(table.key)
    for table in (ORDERS, ODD)
    for database in ("", "shop.")
}
PLACE = Place(1_709_283_600_000_000_001, 1_709_283_600_000, "57227594")
#: The keys of messages without a value.
KEYS = (None, b'{"id":1}', b"\xff")
#: Messages of Kafka Connect whose value was null before a converter put it into an envelope.
NULL_PAYLOADS = (
    {"schema": None, "payload": None},
    {"payload": None, "schema": None},
    enveloped(None, before={"id": "int64"}, after={"id": "int64"}),
)


def events() -> Iterator[Change]:
    """Yield changes of each op and a statement, one after another."""
    new, paid = {"id": 1, "status": "new"}, {"id": 1, "status": "paid"}
    places = [
        replace(PLACE, position=PLACE.position + step, made_at=PLACE.made_at + step)
        for step in range(5)
    ]
    yield RowChange(SNAPSHOT, ORDERS, places[0], after=new)
    yield RowChange(INSERT, ORDERS, places[1], after=new)
    yield RowChange(UPDATE, ORDERS, places[2], before=new, after=paid)
    yield RowChange(DELETE, ORDERS, places[3], before=paid)
    yield Ddl("truncate", ORDERS, places[4], "TRUNCATE TABLE orders")


def messages_by_topic(source_format: str) -> dict[str, list[Message]]:
    """Return the messages of the tests."""
    encode = ENCODE[source_format]
    each_event = [message for event in events() for message in encode(event)]
    one = [Message(good(source_format))]
    null_payloads = NULL_PAYLOADS if "connect" in type_systems_in(source_format) else ()
    return {
        "one": one,
        "other": one,
        "tombstones": [Message(None, key) for key in KEYS],
        "null payloads": [Message(json_bytes(payload), KEYS[1]) for payload in null_payloads],
        "redelivered": each_event * 2,
        "odd names": encode(RowChange(INSERT, ODD, PLACE, after=ODD_ROW)),
    }


@pytest.fixture(scope="module", params=SOURCE_FORMATS)
def source_format(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def by_topic(spark: SparkSession, source_format: str) -> dict[str, Rows]:
    """The staging rows of a format's messages, by their topic."""
    messages = reduce(
        DataFrame.union,
        [
            landed(spark, [one.value for one in sent], [one.key for one in sent], topic)
            for topic, sent in messages_by_topic(source_format).items()
            if sent
        ],
    )
    rows = defaultdict(list)
    for row in rows_of(parser(source_format)(messages, key_settings=KEY_SETTINGS)):
        rows[row["topic"]].append(row)
    return rows


def test_two_topics_never_share_a_sequence(by_topic: dict[str, Rows]) -> None:
    """Their messages may be at one position, in partitions and at offsets of one number."""
    [one], [other] = by_topic["one"], by_topic["other"]
    assert one["record_type"] == other["record_type"] == "change"
    assert one["sequence"] != other["sequence"]


def test_a_null_value_is_a_tombstone_that_says_nothing(
    source_format: str, by_topic: dict[str, Rows]
) -> None:
    """Whatever its key is, and also in an envelope of Kafka Connect."""
    sent = messages_by_topic(source_format)
    rows = by_topic["tombstones"] + by_topic["null payloads"]
    assert len(rows) == len(sent["tombstones"]) + len(sent["null payloads"])
    for row in rows:
        assert row["record_type"] == "tombstone"
        assert {name for name, held in row.items() if held is not None} == OF_EVERY_MESSAGE


def test_a_redelivery_has_the_event_ids_of_the_first_delivery(
    source_format: str, by_topic: dict[str, Rows]
) -> None:
    """If only coordinates identify a message, each delivery has ids of its own."""
    rows = [row for row in by_topic["redelivered"] if row["record_type"] != "tombstone"]
    ids = [row["event_id"] for row in rows]
    first, again = ids[: len(ids) // 2], ids[len(ids) // 2 :]
    assert [row["op"] for row in rows].count("delete") == 2
    if has_trait(source_format, "known_by_coordinates"):
        # Its statement has no id.
        assert set(first) & set(again) == {None}
        assert len(set(ids)) == len(ids) - 1
    else:
        assert first == again
        assert None not in first
        assert len(set(first)) == len(first)


def test_key_columns_may_have_any_name(source_format: str, by_topic: dict[str, Rows]) -> None:
    [row] = by_topic["odd names"]
    names = sorted(TEXTS) if TRAITS[source_format].has_unordered_keys else list(TEXTS)
    assert row["key_columns"] == names
    assert list(json.loads(row["row_key"]).items()) == [(name, name) for name in names]
