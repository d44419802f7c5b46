"""Kafka Connect's JSON for the encoders of the formats that come in it: `{schema, payload}`."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tests.python.encoders.changes import Row, Table, epoch_millis

#: What Debezium writes for a value that the log does not have.
PLACEHOLDER = "__debezium_unavailable_value"

TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"


class Notation(NamedTuple):
    """How a producer writes the columns of one type."""

    type: str
    #: The semantic type, where the plain one says too little.
    name: str | None = None
    write: Callable[[Any], Any] = lambda value: value


#: Column type -> notation, as far as producers agree.
NOTATIONS = {
    "long": Notation("int64"),
    "text": Notation("string"),
    "boolean": Notation("boolean"),
    "bytes": Notation("bytes", write=lambda value: base64.b64encode(value).decode()),
    "decimal": Notation("string", write=lambda value: f"{value:f}"),
    "timestamp": Notation("int64", TIMESTAMP, epoch_millis),
}


def image(
    row: Row | None,
    table: Table,
    notations: Mapping[str, Notation],
    keys_as_text: bool = False,
) -> dict[str, Any] | None:
    """A row as the payload has it; null stays null.  `keys_as_text`: also numbers in its key."""
    if row is None:
        return None
    written = {
        name: None if value is None else notations[table.columns[name]].write(value)
        for name, value in row.items()
    }
    if keys_as_text:
        written |= {
            n: str(row[n]) for n in table.identity if table.columns[n] == "long" and n in row
        }
    return written


def columns(
    field: str,
    table: Table,
    notations: Mapping[str, Notation],
    names: Iterable[str] | None = None,
) -> dict[str, Any]:
    """The schema of a member that holds columns of the table: all of them, or those named."""
    members = []
    for name in table.columns if names is None else names:
        notation = notations[table.columns[name]]
        members.append(
            scalar(name, notation.type, optional=name not in table.key, name=notation.name)
        )
    return struct(field, members, optional=True)


def scalar(
    field: str, type_: str = "string", optional: bool = False, name: str | None = None
) -> dict[str, Any]:
    """The schema of a member that holds one value."""
    semantic = {} if name is None else {"name": name, "version": 1}
    return {"type": type_, "optional": optional, **semantic, "field": field}


def struct(
    field: str, fields: list[dict[str, Any]], optional: bool = False, name: str | None = None
) -> dict[str, Any]:
    """The schema of a member that holds others."""
    named = {} if name is None else {"name": name}
    return {"type": "struct", "fields": fields, "optional": optional, **named, "field": field}


def enveloped(
    payload: dict[str, Any], fields: list[dict[str, Any]], name: str | None = None
) -> dict[str, Any]:
    """The payload with the schema of its members."""
    named = {} if name is None else {"name": name}
    return {
        "schema": {"type": "struct", "fields": fields, "optional": False, **named},
        "payload": payload,
    }
