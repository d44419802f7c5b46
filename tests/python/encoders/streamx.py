"""Changes as envelopes of StreamX, which Kafka (DataWorks) and DataHub BLOB topics carry."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Change,
    Ddl,
    Heartbeat,
    Place,
    Row,
    RowChange,
    Table,
    Transaction,
    epoch_millis,
    without,
)

#: Column type -> the one of StreamX's six types that it becomes.
_TYPES = {
    "long": "LONG",
    "text": "STRING",
    "decimal": "DOUBLE",
    "boolean": "BOOLEAN",
    "bytes": "BYTES",
    "timestamp": "DATE",
}
_DDL_OPS = {
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
_TRANSACTION_OPS = {
    "begin": "TRANSACTION_BEGIN",
    "commit": "TRANSACTION_END",
    "rollback": "XAROLLBACK",
}
_FULL_LOAD = "-1"


def envelopes(
    change: Change,
    *,
    split_updates: bool,
    update_op: str,
    db_type: str,
    lists_image_only: bool,
    ddl_op: str | None,
    keys_as_text: bool,
    half_op: str | None = None,
) -> list[dict[str, Any]]:
    """The envelopes of a change, with nulls for what is not there.

    `split_updates`: an update is two envelopes, before and after, of one sequence id;
    else it is one of the operation `update_op`.
    `lists_image_only`: the schema lists the columns that the log has of the row, which may be
    fewer than the table has.
    `ddl_op`: the operation of all schema changes.
    `keys_as_text`: whole numbers in keys are texts.
    `half_op`: the operation of both halves, where they do not have one each.
    """
    match change:
        case RowChange(table=table, place=place):
            if lists_image_only:
                table = replace(table, columns=without(table.columns, change.unavailable))
            parts = _row_parts(change, split_updates, update_op, half_op)
            if change.kind == SNAPSHOT:
                sequence_id, times = _FULL_LOAD, _times(-1, -1)
            else:
                sequence_id, times = _sequence_id(place), _row_times(place)
            return [
                _envelope(
                    op,
                    sequence_id=sequence_id,
                    times=times,
                    source=_source(table.database, table, db_type),
                    table=table,
                    before=before,
                    after=after,
                    keys_as_text=keys_as_text,
                )
                for op, before, after in parts
            ]
        case Ddl(kind, _, place, statement):
            ddl = {"text": statement, "ddlMeta": base64.b64encode(statement.encode()).decode()}
            source = _source(change.named.database, change.named, db_type)
            op, times = ddl_op or _DDL_OPS[kind], _row_times(place)
            return [_envelope(op, _sequence_id(place), times, source, ddl=ddl)]
        case Transaction(kind, place, database):
            op, source = _TRANSACTION_OPS[kind], _source(database, None, db_type)
            return [_envelope(op, _sequence_id(place), _row_times(place), source)]
        case Heartbeat(place):
            times = {"eventTime": place.made_at, "checkpointTime": place.made_at}
            return [_envelope("MHEARTBEAT", None, times, None)]
    return []


def _row_parts(
    change: RowChange, split_updates: bool, update_op: str, half_op: str | None
) -> list[tuple[str, Row | None, Row | None]]:
    """(operation, row before, row after) of each envelope."""
    before, after = change.logged_before, change.logged_after
    if change.kind in (INSERT, SNAPSHOT):
        return [("INSERT", None, after)]
    if change.kind == DELETE:
        return [("DELETE", before, None)]
    if change.kind == UPDATE and split_updates:
        return [
            (half_op or "UPDATE_BEFOR", before, None),
            (half_op or "UPDATE_AFTER", None, after),
        ]
    return [(update_op, before, after)]


def _envelope(
    op: str,
    sequence_id: str | None,
    times: dict[str, int],
    source: dict[str, Any] | None,
    table: Table | None = None,
    before: Row | None = None,
    after: Row | None = None,
    ddl: dict[str, str] | None = None,
    keys_as_text: bool = False,
) -> dict[str, Any]:
    columns = [
        {"name": name, "type": _TYPES[type_]}
        for name, type_ in (table.columns.items() if table else ())
    ]
    return {
        "schema": {
            "dataColumn": columns or None,
            "primaryKey": list(table.key) if table and table.key else None,
            "source": source,
        },
        "payload": {
            "before": _image(before, table, keys_as_text),
            "after": _image(after, table, keys_as_text),
            "sequenceId": sequence_id,
            "timestamp": times,
            "op": op,
            "ddl": ddl,
        },
        "version": "0.0.1",
    }


def _image(row: Row | None, table: Table | None, keys_as_text: bool) -> dict[str, Any] | None:
    if row is None or table is None:
        return None
    columns = {name: _written(value, table.columns[name]) for name, value in row.items()}
    if keys_as_text:
        columns |= {
            n: str(row[n]) for n in table.identity if table.columns[n] == "long" and n in row
        }
    return {"dataColumn": columns}


def _written(value: Any, type_: str) -> Any:
    if value is None:
        return None
    match type_:
        case "decimal":
            return f"{value:f}"
        case "bytes":
            return base64.b64encode(value).decode()
        case "timestamp":
            return epoch_millis(value)
    return value


def _source(database: str, table: Table | None, db_type: str) -> dict[str, Any]:
    return {
        "dbType": db_type,
        "dbVersion": None,
        "dbName": database,
        "schemaName": table.schema if table else None,
        "tableName": (table.name or None) if table else None,
    }


def _sequence_id(place: Place) -> str:
    return str(place.position)


def _row_times(place: Place) -> dict[str, int]:
    return _times(place.made_at, place.published_at)


def _times(made_at: int, published_at: int) -> dict[str, int]:
    return {"eventTime": made_at, "systemTime": published_at, "checkpointTime": made_at}
