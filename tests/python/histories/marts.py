"""The marts at a time, read once for all histories."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.python.harness.project import Project, json_texts

Row = dict[str, Any]

#: Before them messages land, and behind them a rebuild follows.
RUNS = 3

LATEST_STATE, ROW_HISTORY, CHANGE_EVENTS = "latest_state", "row_history", "change_events"
DDL_EVENTS, MESSAGE_LEDGER = "ddl_events", "message_ledger"
QUARANTINED_MESSAGES = "quarantined_messages"

#: Mart -> the column in whose order its rows are read.
ORDERED_BY = {
    LATEST_STATE: "row_key",
    ROW_HISTORY: "sequence",
    CHANGE_EVENTS: "sequence",
    DDL_EVENTS: "sequence",
    MESSAGE_LEDGER: "topic",
    QUARANTINED_MESSAGES: "offset",
}
_IMAGES = {"row", "before", "after"}


@dataclass(frozen=True)
class Marts:
    """Mart -> its rows as dicts without NULLs; images are dicts too, and their fractions texts."""

    rows: Mapping[str, list[Row]]

    def of_table(self, mart: str, source_format: str, table_id: str) -> list[Row]:
        return [
            row
            for row in self.rows[mart]
            if (row["source_format"], row.get("table_id")) == (source_format, table_id)
        ]

    def state(self, source_format: str, table_id: str) -> list[Row]:
        """The rows of a table by their keys; equal ones of a keyless table are rows each."""
        return [
            held["row"]
            for held in self.of_table(LATEST_STATE, source_format, table_id)
            for _ in range(held["row_count"])
        ]


@dataclass(frozen=True)
class Stages:
    """The project, and its marts at each time; before the last run only `latest_state` is read."""

    project: Project
    after_runs: Sequence[Marts]
    rebuilt: Marts

    @property
    def last(self) -> Marts:
        """After all runs."""
        return self.after_runs[-1]


def read(project: Project, marts: Collection[str] = tuple(ORDERED_BY)) -> Marts:
    """The rows that these marts have now."""
    return Marts({mart: _rows(project, mart) for mart in marts})


def _rows(project: Project, mart: str) -> list[Row]:
    texts = json_texts(project.spark, f"marts.{mart}", order_by=ORDERED_BY[mart])
    return [_with_images(json.loads(text)) for text in texts]


def _with_images(row: Row) -> Row:
    images = {name: json.loads(row[name], parse_float=str) for name in _IMAGES & row.keys()}
    return {**row, **images}
