"""The state that staging rows come to: what the project's models do, in the plainest Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

StagingRow = dict[str, Any]

#: Where a column that a row lacks is no column of the row.
_WITH_SPARSE_ROWS = ("lindorm_debezium", "datahub_tuple")


def replay(rows: Iterable[StagingRow]) -> dict[str, list[dict[str, Any]]]:
    """Table id -> its live rows, in the order of their keys."""
    update_befores: dict[str, StagingRow] = {}
    tables: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    removed: dict[tuple[Any, ...], dict[str, Any]] = {}
    #: Table id -> the columns that it is known to have.
    columns: dict[str, set[str]] = defaultdict(set)
    seen = set()
    for row in sorted(rows, key=_sequence):
        live, known = tables[row["table_id"]], columns[row["table_id"]]
        if row["record_type"] == "update_before":
            update_befores[row["pairing_id"]] = row
        if row["record_type"] == "ddl" and row["is_truncation"]:
            live.clear()
        known -= _dropped_columns(row)
        if row["record_type"] != "change" or row["event_id"] in seen:
            continue
        seen.add(row["event_id"])
        unavailable = {*row["unavailable_columns"]}
        if row["source_format"] not in _WITH_SPARSE_ROWS:
            listed = _listed_columns(row)
            if row["lists_all_columns"]:
                known &= listed
            unavailable |= known - listed
            known |= listed
        # Both halves of a key change that comes as a delete and an insert stand at one position.
        move = (row["table_id"], row["sequence"]["position"], row["transaction_id"])
        if row["op"] == "delete":
            removed[move] = live.pop(row["row_key"], {})
            continue
        old_key = row["previous_row_key"] or row["row_key"]
        if row["pairing_id"] in update_befores:
            old_key = update_befores[row["pairing_id"]]["row_key"]
        held = live.pop(old_key, None) or removed.get(move, {})
        kept = {name: held[name] for name in unavailable if name in held}
        live[row["row_key"]] = kept | row["after"]
    return {table: [rows[key] for key in sorted(rows)] for table, rows in tables.items() if rows}


def _listed_columns(row: StagingRow) -> set[str]:
    """The columns that a message lists or has in an image."""
    return {*(row["column_types"] or {}), *(row["after"] or {}), *(row["before"] or {})}


def _dropped_columns(row: StagingRow) -> set[str]:
    """The columns that a statement drops; the samples' statements are of one table."""
    changes = row["table_changes"] or ()
    return {name for change in changes for name in change["column_names"] or ()}


def _sequence(row: StagingRow) -> tuple[Any, ...]:
    """Members in order, nulls first; an `update_before` stands before its `update_after`."""
    sequence = row["sequence"] or {}
    return tuple((value is not None, value or 0) for value in sequence.values())
