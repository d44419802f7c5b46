"""Kafka Connect's JSON, `{schema, payload}`, of Lindorm and CDL."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from benchmarks.messages.message import json, json_object
from benchmarks.workload import Change

TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"

#: Column type -> (type, semantic type).
_TYPES = {
    "long": ("int64", None),
    "text": ("string", None),
    "decimal": ("string", "com.xxx.cdc.data.Decimal"),
    "boolean": ("boolean", None),
    "timestamp": ("int64", TIMESTAMP),
}


def enveloped(change: Change, payload: Mapping[str, Any], fields: list[dict[str, Any]]) -> Column:
    """Return the message as text, with the schema of its members if they are described.

    A converter that may leave schemas out writes null instead.
    """
    schema = {"type": "struct", "fields": fields, "optional": False}
    return F.concat(
        F.lit(f'{{"schema":{dumps(schema) if change.is_described else "null"},"payload":'),
        json(json_object(payload)),
        F.lit("}"),
    )


def image(values: Mapping[str, Column], types: Mapping[str, str]) -> Column:
    """Return a row. Decimals are text."""
    return json_object(
        {
            name: value.cast("string") if types[name] == "decimal" else value
            for name, value in values.items()
        }
    )


def columns(field: str, types: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of a member that holds columns of the table."""
    members = [scalar(name, *_TYPES[type_], optional=name != "id") for name, type_ in types.items()]
    return struct(field, members, optional=True)


def scalar(
    field: str, type_: str = "string", name: str | None = None, optional: bool = False
) -> dict[str, Any]:
    """Return the schema of a member that holds one value."""
    semantic = {} if name is None else {"name": name, "version": 1}
    return {"type": type_, "optional": optional, **semantic, "field": field}


def struct(field: str, fields: list[dict[str, Any]], optional: bool = False) -> dict[str, Any]:
    """Return the schema of a member that holds other members."""
    return {"type": "struct", "fields": fields, "optional": optional, "field": field}
