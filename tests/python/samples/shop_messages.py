"""The shop's day as the messages of each format."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from tests.python.encoders import datahub_tuple
from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Change,
    Message,
    RowChange,
    Statement,
    one_by_one,
)
from tests.python.samples.database import Database, Source
from tests.python.samples.shop import day_of

SOURCES = {
    "lindorm_debezium": Source(schema="default", has_truncate=False, has_key_changes=False),
    "dataworks_json": Source(),
    "dts_avro": Source(),
    "shareplex_json": Source(schema="SHOP", spelled=str.upper),
    "canal_json": Source(),
    "cdl_json": Source(schema="public", has_truncate=False),
    "cdl_debezium_json": Source(schema="public"),
    "datahub_tuple": Source(has_truncate=False, has_fixed_columns=True),
    "datahub_blob": Source(schema="public"),
}

#: Format -> kind of change -> the encoder's variants that take turns.
_VARIANTS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "lindorm_debezium": {
        INSERT: [{}, {"with_schema": False}],
        UPDATE: [{}, {"with_schema": False}],
    },
    "dataworks_json": {UPDATE: [{"split_updates": True}, {"split_updates": False}]},
    "dts_avro": {
        INSERT: [{}, {"with_born_timestamp": True}],
        UPDATE: [{"with_born_timestamp": True}, {}],
        # Not in the transactions of other rows: a task writes all of them alike.
        DELETE: [{"times_in_tags": True, "with_born_timestamp": True}],
        "begin": [{}, {}, {"times_in_tags": True}],
        "rollback": [{"times_in_tags": True}],
        "truncate": [{"times_in_tags": True}],
    },
    "shareplex_json": {
        INSERT: [{}, {"long_ops": True}],
        UPDATE: [{}, {"long_ops": True, "split_updates": True}, {"long_ops": True}],
        DELETE: [{}, {"long_ops": True}],
    },
    "canal_json": {
        UPDATE: [{}, {"annotated": True}, {"whole_old": True}],
        DELETE: [{"swapped": True}, {}],
        INSERT: [{}, {"data_as_object": True}],
        "statement": [{"annotated": True}],
        "alter": [{"ddl_type": "DDL"}],
    },
    "cdl_json": {
        INSERT: [{}, {"with_schema": False}, {"lsn_first": False}],
        UPDATE: [{}, {"with_before": False}, {"with_placeholders": True}, {"with_schema": False}],
    },
    "cdl_debezium_json": {
        SNAPSHOT: [{}, {"snapshot_as_insert": True}],
        INSERT: [{}, {"with_schema": False}],
        UPDATE: [{"full_before": True}, {}, {"with_schema": False}],
        DELETE: [{"full_before": True}, {}],
    },
    "datahub_blob": {
        UPDATE: [
            {"split_updates": True},
            {"split_updates": False},
            {"split_updates": False, "update_op": "UPDATE_AFTER"},
        ]
    },
}

#: Each of the shop's tuple topics comes from another producer.
_TUPLE_DIALECTS = {
    "customers": datahub_tuple.DATAWORKS,
    "orders": datahub_tuple.DTS,
    "payments": datahub_tuple.DTS_OLD,
}

#: Without a mark by which a message is known again, a repetition is harmless only at once.
_REPEATED_AT_ONCE = ("canal_json",)
#: Where deletes bring tombstones along.
_HAS_TOMBSTONES = ("cdl_debezium_json",)


class Sent(NamedTuple):
    """A message on its way into a topic; `sent_at` is in epoch milliseconds."""

    topic: str
    sent_at: int
    message: Message


def shop(source_format: str) -> Database:
    """The shop at the end of its day, with what the format has words for."""
    return day_of(SOURCES[source_format])


def shop_messages(source_format: str) -> list[Sent]:
    """In the order in which they are sent.  One change comes twice, and a tombstone at the end."""
    day = shop(source_format)
    knows_statements = source_format == "canal_json"
    turns: Counter[str] = Counter()
    sent: list[Sent] = []
    repetitions: list[Sent] = []
    for change in day.log if knows_statements else one_by_one(day.log):
        messages = _sent(source_format, change, turns)
        sent += messages
        if change in day.redelivered:
            repetitions += messages
        if source_format in _REPEATED_AT_ONCE:
            sent += repetitions
            repetitions = []
    sent += repetitions
    if source_format not in _HAS_TOMBSTONES:
        sent.append(sent[-1]._replace(message=Message(None)))
    return sent


def _sent(source_format: str, change: Change, turns: Counter[str]) -> list[Sent]:
    messages = ENCODE[source_format](change, **_variant(source_format, change, turns))
    place = (change.rows[-1] if isinstance(change, Statement) else change).place
    return [Sent(_topic(source_format, change), place.published_at, m) for m in messages]


def _variant(source_format: str, change: Change, turns: Counter[str]) -> dict[str, Any]:
    if source_format == "datahub_tuple" and isinstance(change, RowChange):
        return {"dialect": _TUPLE_DIALECTS[change.table.name]}
    kind = "statement" if isinstance(change, Statement) else getattr(change, "kind", "heartbeat")
    variants = _VARIANTS.get(source_format, {}).get(kind, [{}])
    turns[kind] += 1
    return variants[(turns[kind] - 1) % len(variants)]


def _topic(source_format: str, change: Change) -> str:
    """One topic for the shop; DataHub's are `project.topic`, and a tuple topic has one table."""
    if source_format == "datahub_blob":
        return "shop.changes"
    if source_format == "datahub_tuple" and isinstance(change, RowChange):
        return f"shop.{change.table.name}"
    return "shop"
