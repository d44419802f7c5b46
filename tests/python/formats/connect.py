"""Kafka Connect's `{schema, payload}` for the tests of the formats that come in it."""

from __future__ import annotations

import json
from typing import Any

PLACEHOLDER = "__debezium_unavailable_value"


def enveloped(payload: Any, **members: dict[str, Any]) -> dict[str, Any]:
    """The payload with a schema of these members: {column: type, or (type, semantic type)}."""
    return {"schema": schema_of(**members), "payload": payload}


def schema_of(**members: dict[str, Any]) -> dict[str, Any]:
    scalar = {"type": "string", "optional": False, "field": "op"}
    return {
        "type": "struct",
        "fields": [
            scalar,
            *(
                {"type": "struct", "fields": fields_of(columns), "optional": True, "field": member}
                for member, columns in members.items()
            ),
        ],
        "optional": False,
        "name": "public.orders",
    }


def fields_of(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": type_, "optional": True, "field": column}
        if isinstance(type_, str)
        else {"type": type_[0], "optional": True, "name": type_[1], "version": 1, "field": column}
        for column, type_ in columns.items()
    ]


def changed(message: dict[str, Any], **values: Any) -> dict[str, Any]:
    """The message with other values; a name such as `source__lsn` is a path."""
    copy = json.loads(json.dumps(message))
    for path, value in values.items():
        *parents, last = path.split("__")
        member = copy
        for parent in parents:
            member = member[parent]
        member[last] = value
    return copy


def without(message: dict[str, Any], path: str) -> dict[str, Any]:
    """The message without a member; a name such as `source__lsn` is a path."""
    copy = json.loads(json.dumps(message))
    *parents, last = path.split("__")
    member = copy
    for parent in parents:
        member = member[parent]
    del member[last]
    return copy


def backwards(value: Any) -> Any:
    """The value with the members of its objects in the opposite order."""
    if not isinstance(value, dict):
        return value
    return {name: backwards(member) for name, member in reversed(value.items())}
