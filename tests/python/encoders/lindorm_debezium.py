"""Changes as messages of Lindorm's data subscription."""

from __future__ import annotations

from tests.python.encoders import connect
from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Change,
    Message,
    Row,
    RowChange,
    json_bytes,
    key_of,
)

_OPS = {INSERT: "c", UPDATE: "u", DELETE: "d", SNAPSHOT: "r"}


def encode(
    change: Change,
    *,
    with_schema: bool = True,
    with_key: bool = True,
    with_key_schema: bool = False,
    keys_as_text: bool = False,
) -> list[Message]:
    """Row changes only.  Rows are sparse: a NULL is a column that is not there.

    `with_schema` false: from a converter that writes no schemas.
    `with_key` false: the record key is null.
    `with_key_schema`: the record key is `{schema, payload}`.
    `keys_as_text`: whole numbers in keys are texts, where a schema shows that they are none.
    """
    if not isinstance(change, RowChange):
        return []
    table, place = change.table, change.place
    before, after = _sparse(change.before), _sparse(change.after)
    as_text = keys_as_text and with_schema
    payload = {
        "op": "d" if _loses_columns_only(before, after) else _OPS[change.kind],
        "ts_ms": place.published_at,
        "before": connect.image(before, table, connect.NOTATIONS, as_text),
        "after": connect.image(after, table, connect.NOTATIONS, as_text),
        "source": {
            "version": "v1.0",
            "db": table.database,
            "namespace": table.schema or "default",
            "table": table.name,
            "ts_ms": place.made_at,
        },
    }
    schema_fields = [
        connect.scalar("op"),
        connect.scalar("ts_ms", "int64"),
        connect.columns("before", table, connect.NOTATIONS, before or after),
        connect.columns("after", table, connect.NOTATIONS, after or before),
        connect.struct(
            "source",
            [
                *(connect.scalar(name) for name in ("version", "db", "namespace", "table")),
                connect.scalar("ts_ms", "int64"),
            ],
        ),
    ]
    message = connect.enveloped(payload, schema_fields) if with_schema else payload
    return [
        Message(json_bytes(message), _record_key(change, with_key_schema) if with_key else None)
    ]


def _sparse(row: Row | None) -> Row | None:
    if row is None:
        return None
    return {name: value for name, value in row.items() if value is not None}


def _loses_columns_only(before: Row | None, after: Row | None) -> bool:
    """Lindorm calls it a deletion, too, when a row lives on with fewer columns."""
    return before is not None and after is not None and after.items() < before.items()


def _record_key(change: RowChange, with_schema: bool) -> bytes | None:
    table = change.table
    key = connect.image(key_of(table, change.after or change.before), table, connect.NOTATIONS)
    if key is None:
        return None
    fields = connect.columns("key", table, connect.NOTATIONS, table.key)["fields"]
    return json_bytes(connect.enveloped(key, fields) if with_schema else key)
