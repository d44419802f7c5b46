"""Changes as messages of CDL's Debezium JSON, `message_version` 2.0."""

from __future__ import annotations

from typing import Any

from tests.python.encoders import connect
from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Change,
    Ddl,
    Heartbeat,
    Message,
    Place,
    Row,
    RowChange,
    Table,
    json_bytes,
    key_of,
)

_OPS = {INSERT: "c", UPDATE: "u", DELETE: "d", SNAPSHOT: "r"}
_NOTATIONS = {
    **connect.NOTATIONS,
    "decimal": connect.NOTATIONS["decimal"]._replace(name="com.xxx.cdc.data.Decimal"),
    "timestamp": connect.Notation(
        "string", "com.xxx.cdc.data.timestamp", lambda moment: moment.isoformat(sep=" ")
    ),
}


def encode(
    change: Change,
    *,
    with_schema: bool = True,
    full_before: bool = False,
    snapshot_as_insert: bool = False,
    snapshot_flag: str = "true",
    with_snapshot_lsn: bool = True,
    keys_as_text: bool = False,
) -> list[Message]:
    """Row changes, TRUNCATE and heartbeats; a tombstone follows each delete of a keyed row.

    A key change is three messages at one log position: the delete of the old
    key, its tombstone, the insert of the new one.
    `with_schema` false: from a converter that writes no schemas.
    `full_before`: the source logs whole rows (REPLICA IDENTITY FULL), else an
    update has no row before and a delete only its key.
    `snapshot_as_insert`: rows of the snapshot are `c`, not `r`.
    `snapshot_flag`: what `source.snapshot` says of them.
    `with_snapshot_lsn` false: they have no log position.
    `keys_as_text`: whole numbers in keys are texts, where a schema shows that they are none.
    """
    match change:
        case RowChange():
            messages = _row_messages(change, full_before, keys_as_text and with_schema)
            if change.kind == SNAPSHOT:
                op = "c" if snapshot_as_insert else "r"
                _mark_snapshot(messages, op, snapshot_flag, with_snapshot_lsn)
        case Ddl("truncate", table, place):
            messages = [(None, _payload("t", table, place))]
        case Heartbeat(place):
            payload = {
                "source": {"connector": "postgresql", "ts_ms": place.made_at},
                "ts_ms": place.published_at,
                "message_version": "2.0",
                "message_type": "heartbeat",
                "HEARTBEAT_IDENTIFIER": "279fb050-0143-45c1-b184-50bc48c2461c",
            }
            return [Message(json_bytes({"schema": None, "payload": payload}))]
        case _:
            return []
    return [
        Message(
            None
            if payload is None
            else json_bytes(_with_schema(payload, change.table) if with_schema else payload),
            None if key is None else json_bytes(key),
        )
        for key, payload in messages
    ]


def _row_messages(
    change: RowChange, full_before: bool, keys_as_text: bool
) -> list[tuple[Row | None, dict[str, Any] | None]]:
    """(record key, payload) of each message; a payload of None is a tombstone."""
    table, place = change.table, change.place
    key = connect.image(key_of(table, change.after or change.before), table, _NOTATIONS)
    old_key = connect.image(key_of(table, change.before), table, _NOTATIONS)
    before = _before(change, full_before, keys_as_text)
    after = connect.image(change.logged_after, table, _NOTATIONS, keys_as_text)
    if after is not None:
        after |= dict.fromkeys(change.unavailable, connect.PLACEHOLDER)
    deletion = [(old_key, _payload("d", table, place, before=before, unique=old_key))]
    if old_key is not None:
        deletion.append((old_key, None))
    if change.kind == DELETE:
        return deletion
    if change.is_key_change:
        return [*deletion, (key, _payload("c", table, place, after=after, unique=key))]
    if change.kind == UPDATE and not full_before:
        before = None
    return [
        (key, _payload(_OPS[change.kind], table, place, before=before, after=after, unique=key))
    ]


def _mark_snapshot(
    messages: list[tuple[Row | None, dict[str, Any] | None]], op: str, flag: str, with_lsn: bool
) -> None:
    [(_, payload)] = messages
    payload["op"] = op
    payload["source"]["snapshot"] = flag
    if not with_lsn:
        payload["source"]["lsn"] = None


def _before(change: RowChange, full_before: bool, keys_as_text: bool) -> dict[str, Any] | None:
    if change.before is None:
        return None
    row = change.logged_before
    if change.table.key and not full_before:
        row = {name: row[name] if name in change.table.key else None for name in row}
    return connect.image(row, change.table, _NOTATIONS, keys_as_text)


def _payload(
    op: str,
    table: Table,
    place: Place,
    before: Row | None = None,
    after: Row | None = None,
    unique: Row | None = None,
) -> dict[str, Any]:
    return {
        "before": before,
        "after": after,
        "source": {
            "version": "1.4.0.Final",
            "connector": "postgresql",
            "name": "cdl",
            "ts_ms": place.made_at,
            "snapshot": "false",
            "db": table.database,
            "schema": table.schema or "public",
            "table": table.name,
            "txId": int(place.transaction),
            "lsn": place.position,
        },
        "op": op,
        "ts_ms": place.published_at,
        "message_version": "2.0",
        "message_type": "0",
        "LOB_COLUMNS": None,
        "unique": unique or {},
    }


def _with_schema(payload: dict[str, Any], table: Table) -> dict[str, Any]:
    source = [
        *(connect.scalar(name) for name in ("version", "connector", "name")),
        connect.scalar("ts_ms", "int64"),
        connect.scalar("snapshot", optional=True, name="io.debezium.data.Enum"),
        *(connect.scalar(name) for name in ("db", "schema", "table")),
        *(connect.scalar(name, "int64", optional=True) for name in ("txId", "lsn")),
    ]
    fields = [
        connect.columns("before", table, _NOTATIONS),
        connect.columns("after", table, _NOTATIONS),
        connect.struct("source", source, name="io.debezium.connector.postgresql.Source"),
        connect.scalar("op"),
        connect.scalar("ts_ms", "int64"),
        *(connect.scalar(name) for name in ("message_version", "message_type")),
        connect.scalar("LOB_COLUMNS", optional=True),
        connect.columns("unique", table, _NOTATIONS, table.key),
    ]
    return connect.enveloped(payload, fields, f"{table.schema or 'public'}.{table.name}")
