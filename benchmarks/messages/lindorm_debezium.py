"""Lindorm's data subscription. The record key contains the row's key."""

from __future__ import annotations

from pyspark.sql import functions as F

from benchmarks.messages import connect
from benchmarks.messages.message import Message, code_of, json, json_object
from benchmarks.workload import DATABASE, Change

_CODES = {"insert": "c", "update": "u", "delete": "d"}


def encode(change: Change) -> list[Message]:
    source = {
        "version": "v1.0",
        "db": DATABASE,
        "namespace": "default",
        "table": change.table,
        "ts_ms": change.made_at,
    }
    payload = {
        "op": code_of(change.op, _CODES),
        "ts_ms": change.published_at,
        "before": F.when(change.has_before, connect.image(change.before, change.types)),
        "after": F.when(change.has_after, connect.image(change.after, change.types)),
        "source": json_object(source),
    }
    schema = [
        connect.scalar("op"),
        connect.scalar("ts_ms", "int64"),
        connect.columns("before", change.types),
        connect.columns("after", change.types),
        connect.struct(
            "source",
            [
                *(connect.scalar(name) for name in ("version", "db", "namespace", "table")),
                connect.scalar("ts_ms", "int64"),
            ],
        ),
    ]
    key = json(json_object({"id": change.key}))
    return [Message(connect.enveloped(change, payload, schema), key)]
