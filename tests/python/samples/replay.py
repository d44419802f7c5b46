"""The state that staging rows come to: what the project's models do, in the plainest Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

StagingRow = dict[str, Any]


def replay(rows: Iterable[StagingRow]) -> dict[str, list[dict[str, Any]]]:
    """Table id -> its live rows, in the order of their keys."""
    before_halves: dict[str, StagingRow] = {}
    tables: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    removed: dict[tuple[Any, ...], dict[str, Any]] = {}
    seen = set()
    for row in sorted(rows, key=_sequence):
        live = tables[row["table_id"]]
        if row["record_type"] == "update_before":
            before_halves[row["pairing_id"]] = row
        if row["record_type"] == "ddl" and row["ends_rows"]:
            live.clear()
        if row["record_type"] != "change" or row["event_id"] in seen:
            continue
        seen.add(row["event_id"])
        # Both halves of a key change that comes as a delete and an insert stand at one position.
        move = (row["table_id"], row["sequence"]["position"], row["transaction_id"])
        if row["op"] == "delete":
            removed[move] = live.pop(row["row_key"], {})
            continue
        old_key = row["previous_row_key"] or row["row_key"]
        if row["pairing_id"] in before_halves:
            old_key = before_halves[row["pairing_id"]]["row_key"]
        held = live.pop(old_key, None) or removed.get(move, {})
        kept = {name: held[name] for name in row["unavailable_columns"] if name in held}
        live[row["row_key"]] = kept | row["after"]
    return {table: [rows[key] for key in sorted(rows)] for table, rows in tables.items() if rows}


def _sequence(row: StagingRow) -> tuple[Any, ...]:
    """Members in order, nulls first; a half before an update stands before the half after."""
    sequence = row["sequence"] or {}
    return tuple((value is not None, value or 0) for value in sequence.values())
