"""Changes as messages of CDL JSON, `message_version` 1.0."""

from __future__ import annotations

from typing import Any

from tests.python.encoders import connect
from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Change,
    Heartbeat,
    Message,
    RowChange,
    json_bytes,
    key_of,
)

_OPERATIONS = {INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", SNAPSHOT: "INSERT"}
_IDENTIFIER = "279fb050-0143-45c1-b184-50bc48c2461c"
_NOTATIONS = {
    **connect.NOTATIONS,
    "decimal": connect.NOTATIONS["decimal"]._replace(name="com.xxx.cdc.data.Decimal"),
}


def encode(
    change: Change,
    *,
    with_schema: bool = True,
    with_before: bool = True,
    with_placeholders: bool = False,
    lsn_first: bool = True,
    keys_as_text: bool = False,
) -> list[Message]:
    """Row changes and heartbeats; a row of the full load is an INSERT as well.

    `with_schema` false: from a converter that writes no schemas.
    `with_before` false: an update whose key stays has no row before.
    `with_placeholders`: a value that the log does not have is a placeholder, else
    it is not there, which only the schema shows.
    `lsn_first` false: the transaction's properties stand in the other order.
    `keys_as_text`: whole numbers in keys are texts, where a schema shows that they are none.
    """
    match change:
        case Heartbeat(place):
            payload = {
                "TIMESTAMP": place.made_at,
                "message_version": "1.0",
                "message_type": "0",
                "HEARTBEAT_IDENTIFIER": _IDENTIFIER,
            }
            return [Message(json_bytes({"schema": None, "payload": payload}))]
        case RowChange():
            # Without a schema only a placeholder can show that a column is not there.
            holds_places = with_placeholders or not with_schema
            as_text = keys_as_text and with_schema
            payload = _payload(change, with_before, holds_places, lsn_first, as_text)
            message = _with_schema(payload, change) if with_schema else payload
            return [Message(json_bytes(message))]
    return []


def _payload(
    change: RowChange,
    with_before: bool,
    with_placeholders: bool,
    lsn_first: bool,
    keys_as_text: bool,
) -> dict[str, Any]:
    table, place = change.table, change.place
    after = connect.image(change.logged_after, table, _NOTATIONS, keys_as_text)
    before = connect.image(change.logged_before, table, _NOTATIONS, keys_as_text)
    if with_placeholders and after is not None:
        after |= dict.fromkeys(change.unavailable, connect.PLACEHOLDER)
    if change.kind == UPDATE and not with_before and not change.is_key_change:
        before = None
    properties = [
        {"name": "lsn", "value": place.position},
        {"name": "txId", "value": int(place.transaction)},
    ]
    key = key_of(table, change.after or change.before) or {}
    return {
        "DATA_STORE": "POSTGRESQL",
        "SEG_OWNER": table.schema or "public",
        "TABLE_NAME": table.name,
        "TIMESTAMP": place.made_at,
        "OPERATION": _OPERATIONS[change.kind],
        "LOB_COLUMNS": ",".join(sorted(change.unavailable)) or None,
        "transaction": {"properties": properties if lsn_first else properties[::-1]},
        "unique": connect.image(key, table, _NOTATIONS),
        "data": after,
        "before": before,
        "message_version": "1.0",
        "message_type": "0",
        "HEARTBEAT_IDENTIFIER": _IDENTIFIER,
    }


def _with_schema(payload: dict[str, Any], change: RowChange) -> dict[str, Any]:
    table = change.table
    property_ = {
        "type": "struct",
        "fields": [connect.scalar("name"), connect.scalar("value", "int64")],
        "optional": False,
    }
    properties = {"type": "array", "items": property_, "optional": False, "field": "properties"}
    fields = [
        *(connect.scalar(name) for name in ("DATA_STORE", "SEG_OWNER", "TABLE_NAME")),
        connect.scalar("TIMESTAMP", "int64", name=connect.TIMESTAMP),
        connect.scalar("OPERATION"),
        connect.scalar("LOB_COLUMNS", optional=True),
        connect.struct("transaction", [properties], name="transaction"),
        connect.columns("unique", table, _NOTATIONS, table.key),
        connect.columns("data", table, _NOTATIONS),
        connect.columns("before", table, _NOTATIONS),
        *(connect.scalar(name) for name in ("message_version", "message_type")),
        connect.scalar("HEARTBEAT_IDENTIFIER", optional=True),
    ]
    return connect.enveloped(payload, fields, f"{payload['SEG_OWNER']}.{table.name}")
