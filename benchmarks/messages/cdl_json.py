"""CDL JSON, `message_version` 1.0."""

from __future__ import annotations

from pyspark.sql import functions as F

from benchmarks.messages import connect
from benchmarks.messages.message import Message, json, json_object
from benchmarks.workload import SCHEMA, Change


def encode(change: Change) -> list[Message]:
    properties = F.array(
        json_object({"name": "lsn", "value": change.position}),
        json_object({"name": "txId", "value": change.transaction.cast("bigint")}),
    )
    key = json_object({"id": change.key})
    payload = {
        "DATA_STORE": "POSTGRESQL",
        "SEG_OWNER": SCHEMA,
        "TABLE_NAME": change.table,
        "TIMESTAMP": change.made_at,
        "OPERATION": F.upper(change.op),
        "LOB_COLUMNS": F.lit(None).cast("string"),
        "transaction": json_object({"properties": properties}),
        "unique": key,
        "data": F.when(change.has_after, connect.image(change.after, change.types)),
        "before": F.when(change.has_before, connect.image(change.before, change.types)),
        "message_version": "1.0",
        "message_type": "0",
        "HEARTBEAT_IDENTIFIER": "279fb050-0143-45c1-b184-50bc48c2461c",
    }
    property_ = connect.struct("", [connect.scalar("name"), connect.scalar("value", "int64")])
    list_ = {"type": "array", "items": property_, "optional": False, "field": "properties"}
    schema = [
        *(connect.scalar(name) for name in ("DATA_STORE", "SEG_OWNER", "TABLE_NAME")),
        connect.scalar("TIMESTAMP", "int64", connect.TIMESTAMP),
        connect.scalar("OPERATION"),
        connect.scalar("LOB_COLUMNS", optional=True),
        connect.struct("transaction", [list_]),
        connect.columns("unique", {"id": "long"}),
        connect.columns("data", change.types),
        connect.columns("before", change.types),
        *(connect.scalar(name) for name in ("message_version", "message_type")),
        connect.scalar("HEARTBEAT_IDENTIFIER", optional=True),
    ]
    return [Message(connect.enveloped(change, payload, schema), json(key))]
