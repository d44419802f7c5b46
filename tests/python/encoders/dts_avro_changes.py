"""Changes as DTS Avro messages; the records themselves are written by `dts_avro`."""

from __future__ import annotations

from typing import Any

from tests.python.encoders import dts_avro
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
    Transaction,
)

_OPERATIONS = {INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", SNAPSHOT: "INIT"}
_TRANSACTION_OPERATIONS = {"begin": "BEGIN", "commit": "COMMIT", "rollback": "ROLLBACK"}
#: Charset of a database -> Python's name of it.
_ENCODINGS = {"utf8mb4": "utf-8", "gbk": "gbk", "latin1": "cp1252"}


def encode(
    change: Change,
    *,
    with_born_timestamp: bool = False,
    times_in_tags: bool = False,
    charset: str = "utf8mb4",
    source_type: str = "MySQL",
    record_id: int | None = None,
) -> list[Message]:
    """All kinds of changes.

    `with_born_timestamp`: as newer producers write it, with one more member at the end.
    `times_in_tags`: as tasks on MySQL write: no process times, and no transaction but in tags.
    `charset`: of the texts, as far as it has their characters; the rest is utf8mb4.
    `source_type`: the kind of database.
    `record_id`: where the task counts anew; else ids go with the log.
    """
    match change:
        case RowChange(kind, table, place):
            record = dts_avro.row(
                _OPERATIONS[kind],
                _object_name(table),
                before=_image(change.before, change.unavailable, charset),
                after=_image(change.after, change.unavailable, charset),
                key=table.key,
                **_members(place),
            )
        case Ddl(_, _, place, statement):
            record = dts_avro.ddl(_object_name(change.named), statement, **_members(place))
        case Transaction(kind, place, database):
            operation = _TRANSACTION_OPERATIONS[kind]
            record = {"operation": operation, "objectName": database, **_members(place)}
        case Heartbeat(place):
            record = {"operation": "HEARTBEAT", **_members(place), "sourceTxid": ""}
        case _:
            return []
    if times_in_tags:
        record |= _as_of_mysql(record, change.place)
    if record_id is not None:
        record["id"] = record_id
    born_timestamp = place.made_at if with_born_timestamp else None
    return [Message(dts_avro.encode(record | {"sourceType": source_type}, born_timestamp))]


def _members(place: Place) -> dict[str, Any]:
    position = f"{place.position}@1"
    return {
        "id": place.position,
        "sourceTimestamp": place.made_at // 1000,
        "sourcePosition": position,
        "safeSourcePosition": position,
        "sourceTxid": place.transaction,
        "processTimestamps": [place.made_at, place.published_at],
    }


def _as_of_mysql(record: dict[str, Any], place: Place) -> dict[str, Any]:
    """What differs in a task on MySQL; its rows name no transaction at all."""
    tags = {"readerThroughoutTime": str(place.published_at), "server_id": "26957161"}
    if record["operation"] in ("BEGIN", "DDL"):
        tags["GTID"] = f"281c62dc-590c-11ee-a295-00163e390c7c:{place.transaction}"
    return {
        "sourceTxid": "0",
        "processTimestamps": None,
        "tags": record.get("tags", {}) | tags,
    }


def _object_name(table: Table) -> str:
    """`db.table` or `db.schema.table`; a dot in a name is escaped."""
    names = (table.database, table.schema, table.name)
    return ".".join(name.replace(".", "\\u002E") for name in names if name)


def _image(row: Row | None, unavailable: frozenset[str], charset: str) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        name: dts_avro.NONE if name in unavailable else _written(value, charset)
        for name, value in row.items()
    }


def _written(value: Any, charset: str) -> Any:
    if not isinstance(value, str):
        return value
    encoding = _ENCODINGS[charset]
    try:
        return dts_avro.character(value.encode(encoding), charset)
    except UnicodeEncodeError:
        return dts_avro.character(value)
