"""Changes as SharePlex JSON."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Change,
    Ddl,
    Message,
    Place,
    Row,
    RowChange,
    Table,
    instant,
    json_bytes,
    key_of,
)

_SHORT = {INSERT: "ins", UPDATE: "upd", DELETE: "del", SNAPSHOT: "ins"}
_LONG = {INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", SNAPSHOT: "INSERT"}
_DDL = {"truncate": "TRUNCATE", "drop": "DROP", "drop_column": "DROP COLUMN"}


def encode(
    change: Change,
    *,
    long_ops: bool = False,
    split_updates: bool = False,
    with_rowid: bool = True,
    with_key_alone: bool = False,
) -> list[Message]:
    """Row changes, TRUNCATE, DROP and DROP COLUMN; a row of the full load is an insert as well.

    `long_ops`: INSERT instead of ins.
    `split_updates`: UPDATE BEFORE and UPDATE AFTER, each with its whole row; else one
    message with the columns that changed, and the row before as `key`.
    `with_key_alone`: `key` has the key columns only, where they stay as they are.
    """
    match change:
        case RowChange():
            return _row_messages(change, long_ops, split_updates, with_rowid, with_key_alone)
        case Ddl(kind, table, place) if kind in _DDL:
            return [_message(_DDL[kind], table, place, None, data={})]
    return []


def _row_messages(
    change: RowChange,
    long_ops: bool,
    split_updates: bool,
    with_rowid: bool,
    with_key_alone: bool,
) -> list[Message]:
    before, after = _image(change.before), _image(change.after)
    op = (_LONG if long_ops else _SHORT)[change.kind]
    if change.kind == UPDATE and split_updates:
        parts = [("UPDATE BEFORE", {"data": before}), ("UPDATE AFTER", {"data": after})]
    elif change.kind == UPDATE:
        changed = {name: after[name] for name in change.changed_columns if name in after}
        identity = change.table.identity
        if with_key_alone and identity and not changed.keys() & set(identity):
            before = {name: before[name] for name in identity}
        parts = [(op, {"data": changed, "key": before})]
    else:
        parts = [(op, {"data": before if change.kind == DELETE else after})]
    rowid = _rowid(change) if with_rowid else None
    return [
        _message(part_op, change.table, change.place, rowid, **images) for part_op, images in parts
    ]


def _message(op: str, table: Table, place: Place, rowid: str | None, **images: Any) -> Message:
    meta = {
        "time": _time(place.made_at),
        "userid": 84,
        "op": op,
        "scn": str(place.first_position),
        "rowid": rowid,
        "trans": f"7.0.{place.transaction}",
        "seq": place.index,
        "size": place.size,
        "table": f"{table.schema or table.database}.{table.name}",
        "idx": f"{place.index}/{place.size}",
        "posttime": _time(place.published_at),
    }
    if rowid is None:
        del meta["rowid"]
    return Message(json_bytes({"meta": meta, **images}))


def _rowid(change: RowChange) -> str:
    """The row's address; where the change has none, one made from the row's key."""
    row = change.before or change.after
    name = repr((change.table.name, key_of(change.table, row) or row))
    return change.row_id or base64.b64encode(hashlib.md5(name.encode()).digest()).decode()[:18]


def _time(millis: int) -> str:
    return instant(millis).isoformat(timespec="seconds")


def _image(row: Row | None) -> dict[str, str | None]:
    """All values are strings."""
    return {name: _written(value) for name, value in (row or {}).items()}


def _written(value: Any) -> str | None:
    match value:
        case None | str():
            return value
        case bool() | int():
            return str(int(value))
        case bytes():
            return value.hex().upper()
    return value.isoformat() if hasattr(value, "isoformat") else f"{value:f}"
