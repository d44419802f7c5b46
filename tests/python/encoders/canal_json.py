"""Changes as Canal JSON, as DTS and Canal servers write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    without,
)

_TYPES = {INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", SNAPSHOT: "INIT"}
_DDL_TYPES = {
    "create": "CREATE",
    "replace": "CREATE",
    "alter": "ALTER",
    "drop_column": "ALTER",
    "rename_column": "ALTER",
    "rename": "RENAME",
    "truncate": "TRUNCATE",
    "drop": "ERASE",
    "drop_temporary": "ERASE",
    "drop_database": "QUERY",
    "query": "QUERY",
}
#: A server publishes a statement that it can't parse as a QUERY, without names.
UNPARSED = "unparsed"
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
    holds_statements: bool = False,
    swapped: bool = False,
    whole_old: bool = False,
    ddl_type: str | None = None,
    data_as_object: bool = False,
    lists_image_only: bool = False,
    keys_as_numbers: bool = False,
    written_at: int | None = 0,
) -> list[Message]:
    """All kinds of changes; the rows of a statement share a message.

    `annotated`: the statement's text comes before its rows, as from MariaDB.
    `holds_statements`: this text has others in its values and comments, and before it stands a user
    variable with one.
    `swapped`: from a DTS instance made before 2022-03-20: `old` holds the rows after,
    `data` those before; a delete has no `data`.
    `whole_old`: `old` lists the columns that did not change, too.
    `ddl_type`: the type of all schema changes, as DTS has DDL; `UNPARSED`: the server can't parse
    them.
    `data_as_object`: a single row stands without its array.
    `lists_image_only`: types of the columns that the log has of the rows, as a Canal server writes
    them, else of all columns.
    `keys_as_numbers`: whole numbers in keys are no texts.
    `written_at`: epoch milliseconds, or what stands for them; 0 is the usual time after the change.
    """
    match change:
        case RowChange():
            rows = [change]
        case Statement(statement_rows):
            rows = list(statement_rows)
        case Ddl(kind, _, place, statement):
            named, times = change.named, {"sql": statement, "written_at": written_at}
            if ddl_type == UNPARSED:
                return [_message("QUERY", place, is_ddl=True, **times)]
            type_ = ddl_type or _DDL_TYPES[kind]
            return [_message(type_, place, named.database, named.name, is_ddl=True, **times)]
        case Transaction(kind, place, database):
            gtid = f"{_SERVER}:{place.transaction}"
            type_ = _TRANSACTION_TYPES[kind]
            return [_message(type_, place, database, gtid=gtid, written_at=written_at)]
        case Heartbeat(place):
            return [_message("MHEARTBEAT", place, written_at=written_at)]
    listed = rows[0].table.columns
    if lists_image_only:
        not_logged = frozenset[str].intersection(*(row.unavailable for row in rows))
        listed = without(listed, not_logged)
    message = _row_message(
        rows, swapped, whole_old, data_as_object, keys_as_numbers, listed, written_at
    )
    # A row of the full load comes from no statement.
    is_annotated = annotated and rows[0].kind != SNAPSHOT
    if not is_annotated:
        return [message]
    variable = _user_variable(rows[0], written_at) if holds_statements else []
    return [*variable, _annotation(rows[0], holds_statements, written_at), message]


def _row_message(
    rows: Sequence[RowChange],
    swapped: bool,
    whole_old: bool,
    data_as_object: bool,
    keys_as_numbers: bool,
    listed: Mapping[str, str],
    written_at: int | None,
) -> Message:
    table, place, kind = rows[0].table, rows[0].place, rows[0].kind
    numbers = [n for n in table.identity if keys_as_numbers and table.columns[n] == "long"]
    before = [_image(row.logged_before, numbers) for row in rows]
    after = [_image(row.logged_after, numbers) for row in rows]
    if kind == UPDATE:
        data, old = after, before
        if swapped:
            data, old = old, data
        elif not whole_old:
            old = [
                {name: image[name] for name in row.changed_columns if name in image}
                for row, image in zip(rows, old, strict=True)
            ]
    elif kind == DELETE:
        data, old = before, None
        if swapped:
            data, old = None, data
    else:
        data, old = after, None
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
        mysqlType={name: _MYSQL_TYPES[type_][0] for name, type_ in listed.items()},
        sqlType={name: _MYSQL_TYPES[type_][1] for name, type_ in listed.items()},
        written_at=written_at,
    )


def _message(
    type_: str,
    place: Place,
    database: str = "",
    table: str = "",
    is_ddl: bool = False,
    sql: str = "",
    gtid: str = "",
    written_at: int | None = 0,
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
                "ts": place.published_at if written_at == 0 else written_at,
                # A batch's number, which repeats.
                "id": int(place.transaction),
                "gtid": gtid,
                **members,
                **rows,
            }
        )
    )


def _annotation(change: RowChange, holds_statements: bool, written_at: int | None) -> Message:
    table = f"{change.table.database}.{change.table.name}"
    verbs = {INSERT: "insert into", UPDATE: "update", DELETE: "delete from"}
    rest = f"/* drop table {table} */ ... '; truncate {table}'" if holds_statements else "/* ... */"
    statement = f"{verbs[change.kind]} {table} {rest}"
    return _message("QUERY", change.place, sql=statement, written_at=written_at)


def _user_variable(change: RowChange, written_at: int | None) -> list[Message]:
    """A server does not escape its value."""
    statement = f"SET @note := 'it's; truncate table {change.table.database}.{change.table.name}'"
    return [_message("QUERY", change.place, sql=statement, written_at=written_at)]


def _image(row: Row | None, numbers: Sequence[str]) -> dict[str, Any]:
    """All values are strings, but those of the columns `numbers`."""
    return {
        name: value if name in numbers else _written(value) for name, value in (row or {}).items()
    }


def _written(value: Any) -> str | None:
    match value:
        case None | str():
            return value
        case bool() | int():
            return str(int(value))
        case bytes():
            return value.decode("iso-8859-1")
    return value.isoformat(sep=" ") if hasattr(value, "isoformat") else f"{value:f}"
