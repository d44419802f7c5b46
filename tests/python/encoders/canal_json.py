"""Changes as Canal JSON, as DTS and Canal servers write it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    Statement,
    Transaction,
    json_bytes,
)

_TYPES = {INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", SNAPSHOT: "INIT"}
_DDL_TYPES = {
    "create": "CREATE",
    "alter": "ALTER",
    "drop_column": "ALTER",
    "rename": "RENAME",
    "truncate": "TRUNCATE",
    "drop": "ERASE",
}
_TRANSACTION_TYPES = {"begin": "GTID", "commit": "XACOMMIT", "rollback": "XAROLLBACK"}
#: Column type -> (type in MySQL, JDBC's number of it).
_MYSQL_TYPES = {
    "long": ("bigint", -5),
    "text": ("varchar", 12),
    "decimal": ("decimal", 3),
    "boolean": ("tinyint", -6),
    "bytes": ("blob", 2004),
    "timestamp": ("datetime", 93),
}
_SERVER = "0f7a1f0c-3b5c-11ee-be56-0242ac120002"


def encode(
    change: Change,
    *,
    annotated: bool = False,
    swapped: bool = False,
    whole_old: bool = False,
    dts_types: bool = False,
    data_as_object: bool = False,
) -> list[Message]:
    """All kinds of changes; the rows of a statement share a message.

    `annotated`: the statement's text comes before its rows, as from MariaDB.
    `swapped`: from a DTS instance made before 2022-03-20: `old` holds the rows after,
    `data` those before; a delete has no `data`.
    `whole_old`: `old` lists the columns that did not change, too.
    `dts_types`: schema changes are of the one type DDL.
    `data_as_object`: a single row stands without its array.
    """
    match change:
        case RowChange():
            rows = [change]
        case Statement(statement_rows):
            rows = list(statement_rows)
        case Ddl(kind, table, place, statement):
            type_ = "DDL" if dts_types else _DDL_TYPES[kind]
            return [_message(type_, place, table.database, table.name, is_ddl=True, sql=statement)]
        case Transaction(kind, place, database):
            gtid = f"{_SERVER}:{place.transaction}"
            return [_message(_TRANSACTION_TYPES[kind], place, database, gtid=gtid)]
        case Heartbeat(place):
            return [_message("MHEARTBEAT", place)]
    message = _row_message(rows, swapped, whole_old, data_as_object)
    # A row of the full load comes from no statement.
    is_annotated = annotated and rows[0].kind != SNAPSHOT
    return [_annotation(rows[0]), message] if is_annotated else [message]


def _row_message(
    rows: Sequence[RowChange], swapped: bool, whole_old: bool, data_as_object: bool
) -> Message:
    table, place, kind = rows[0].table, rows[0].place, rows[0].kind
    if kind == UPDATE:
        data = [_image(row.logged_after) for row in rows]
        old = [_image(row.logged_before) for row in rows]
        if swapped:
            data, old = old, data
        elif not whole_old:
            old = [
                {name: image[name] for name in row.changed_columns if name in image}
                for row, image in zip(rows, old, strict=True)
            ]
    elif kind == DELETE:
        data, old = [_image(row.logged_before) for row in rows], None
        if swapped:
            data, old = None, data
    else:
        data, old = [_image(row.logged_after) for row in rows], None
    if data_as_object and len(rows) == 1:
        data, old = (data and data[0]), (old and old[0])
    return _message(
        _TYPES[kind],
        place,
        table.database,
        table.name,
        data=data,
        old=old,
        pkNames=list(table.key) or None,
        mysqlType={name: _MYSQL_TYPES[type_][0] for name, type_ in table.columns.items()},
        sqlType={name: _MYSQL_TYPES[type_][1] for name, type_ in table.columns.items()},
    )


def _message(
    type_: str,
    place: Place,
    database: str = "",
    table: str = "",
    is_ddl: bool = False,
    sql: str = "",
    gtid: str = "",
    **rows: Any,
) -> Message:
    members = {"data": None, "old": None, "pkNames": None, "mysqlType": None, "sqlType": None}
    return Message(
        json_bytes(
            {
                "database": database,
                "table": table,
                "type": type_,
                "isDdl": is_ddl,
                "sql": sql,
                # The log's clock has seconds.
                "es": place.made_at // 1000 * 1000,
                "ts": place.published_at,
                # A batch's number, which repeats.
                "id": int(place.transaction),
                "gtid": gtid,
                **members,
                **rows,
            }
        )
    )


def _annotation(change: RowChange) -> Message:
    verbs = {INSERT: "insert into", UPDATE: "update", DELETE: "delete from"}
    statement = f"{verbs[change.kind]} {change.table.database}.{change.table.name} /* ... */"
    return _message("QUERY", change.place, sql=statement)


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
            return value.decode("iso-8859-1")
    return value.isoformat(sep=" ") if hasattr(value, "isoformat") else f"{value:f}"
