"""Debezium JSON of CDL, `message_version` 2.0, from a source that logs whole rows."""

from __future__ import annotations

from pyspark.sql import functions as F

from benchmarks.messages import connect
from benchmarks.messages.message import Message, code_of, json, json_object
from benchmarks.workload import DATABASE, SCHEMA, Change

_CODES = {"insert": "c", "update": "u", "delete": "d"}


def encode(change: Change) -> list[Message]:
    key = json_object({"id": change.key})
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
        "before": F.when(change.has_before, connect.image(change.before, change.types)),
        "after": F.when(change.has_after, connect.image(change.after, change.types)),
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
    return [Message(connect.enveloped(change, payload, schema), json(key))]
