"""Changes as records of DataHub TUPLE topics, in the dialects of their three producers."""

from __future__ import annotations

import base64
from typing import Any

from tests.python.encoders.changes import (
    DELETE,
    SNAPSHOT,
    UPDATE,
    Change,
    Message,
    Row,
    RowChange,
    json_bytes,
)

#: DataWorks; DTS before and after its metadata columns got new names.
DATAWORKS, DTS_OLD, DTS = "dataworks", "dts_old", "dts"
DIALECTS = (DATAWORKS, DTS_OLD, DTS)

_FULL_LOAD = "-1"


def encode(change: Change, *, dialect: str = DATAWORKS, names_table: bool = True) -> list[Message]:
    """Row changes only; an update is two tuples.

    A tuple has all columns of its topic: no column can be left out of a row.
    `names_table`: DataWorks writes the table too; else the topic is named like it.
    """
    if not isinstance(change, RowChange):
        return []
    return [
        Message(json_bytes(_tuple(change, dialect, operation, flags, row, names_table)))
        for operation, flags, row in _parts(change)
    ]


def _parts(change: RowChange) -> list[tuple[str, tuple[str, str], Row | None]]:
    """(operation, flags of the row before and after, the row) of each tuple."""
    before, after = ("Y", "N"), ("N", "Y")
    if change.kind == UPDATE:
        return [("U", before, change.before), ("U", after, change.after)]
    if change.kind == DELETE:
        return [("D", before, change.before)]
    return [("I", after, change.after)]


def _tuple(
    change: RowChange,
    dialect: str,
    operation: str,
    flags: tuple[str, str],
    row: Row | None,
    names_table: bool,
) -> dict[str, Any]:
    table, place = change.table, change.place
    is_snapshot = change.kind == SNAPSHOT
    sequence_id = _FULL_LOAD if is_snapshot else str(place.position)
    made_at = -1 if is_snapshot else place.made_at
    columns = {name: _written(value) for name, value in (row or {}).items()}
    if dialect == DATAWORKS:
        return {
            "_sequence_id_": sequence_id,
            "_operation_type_": operation,
            "_excute_time_": made_at,
            **({"_source_table_": table.name} if names_table else {}),
            "_before_image_": flags[0],
            "_after_image_": flags[1],
            **columns,
        }
    metadata = {
        "dts_record_id": sequence_id,
        "dts_operation_flag": operation,
        "dts_instance_id": "rm-bp1shop",
        "dts_db_name": table.database,
        "dts_table_name": table.name,
        "dts_utc_timestamp": str(made_at),
        "dts_before_flag": flags[0],
        "dts_after_flag": flags[1],
    }
    if dialect == DTS_OLD:
        return metadata | {f"dts_{name}": value for name, value in columns.items()}
    return {f"new_dts_sync_{name}": value for name, value in metadata.items()} | columns


def _written(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
    return value.isoformat(sep=" ") if hasattr(value, "isoformat") else f"{value:f}"
