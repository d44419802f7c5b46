"""Debezium JSON of CDL, `message_version` 2.0, from a source that logs whole rows."""

from __future__ import annotations

from pyspark.sql import functions as F

from benchmarks.messages import connect
from benchmarks.messages.message import Message, code_of, json, json_object
from benchmarks.workload import DATABASE, SCHEMA, Change

#: Replaces a value that PostgreSQL did not log because an update did not change it.
_UNAVAILABLE = "__debezium_unavailable_value"
_CODES = {"insert": "c", "update": "u", "delete": "d"}


def encode(change: Change) -> list[Message]:
    rare = change.rare
    key = json_object({"id": change.key})
    before, after = dict(change.before), dict(change.after)
    if rare is not None:
        for image in (before, after):
            image["note"] = F.when(rare.lacks_note, _UNAVAILABLE).otherwise(image["note"])
    source = {
        "version": "1.4.0.Final",
        "connector": "postgresql",
        "name": "cdl",
        "ts_ms": change.made_at,
        "snapshot": "false",
        "db": DATABASE,
        "schema": SCHEMA,
        "table": change.table,
        "txId": change.transaction.cast("bigint"),
        "lsn": change.position,
    }
    payload = {
        "before": F.when(change.has_before, connect.image(before, change.types)),
        "after": F.when(change.has_after, connect.image(after, change.types)),
        "source": json_object(source),
        "op": code_of(change.op, _CODES),
        "ts_ms": change.published_at,
        "message_version": "2.0",
        "message_type": "0",
        "LOB_COLUMNS": F.lit(None).cast("string"),
        "unique": key,
    }
    texts = ("version", "connector", "name", "snapshot", "db", "schema", "table")
    schema = [
        connect.columns("before", change.types),
        connect.columns("after", change.types),
        connect.struct(
            "source",
            [
                *(connect.scalar(name) for name in texts),
                *(connect.scalar(name, "int64") for name in ("ts_ms", "txId", "lsn")),
            ],
        ),
        connect.scalar("op"),
        connect.scalar("ts_ms", "int64"),
        *(connect.scalar(name) for name in ("message_version", "message_type")),
        connect.scalar("LOB_COLUMNS", optional=True),
        connect.columns("unique", {"id": "long"}),
    ]
    if rare is None:
        return [Message(connect.enveloped(change, payload, schema), json(key))]
    # A key change is a delete and an insert.
    old_key = json_object({"id": change.before["id"]})
    old_row = {**payload, "after": F.lit(None), "op": _CODES["delete"], "unique": old_key}
    new_row = {
        **payload,
        "before": F.when(~rare.is_key_change, payload["before"]),
        "op": F.when(rare.is_key_change, _CODES["insert"]).otherwise(payload["op"]),
    }
    of_table = {**source, "table": rare.truncated_table}
    truncation = {
        **payload,
        **dict.fromkeys(("before", "after", "unique")),
        "source": json_object(of_table),
        "op": "t",
    }
    return [
        Message(connect.enveloped(change, truncation, schema), is_published=rare.truncates),
        Message(
            connect.enveloped(change, old_row, schema),
            json(old_key),
            is_published=rare.is_key_change,
        ),
        Message(connect.enveloped(change, new_row, schema), json(key)),
    ]
