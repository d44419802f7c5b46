"""A table that gains, changes or loses its key has each row of its source once, if it can."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.python.harness.project import Landed, Project
from tests.python.histories.marts import LATEST_STATE, Stages

pytestmark = pytest.mark.thorough

START = 1_709_280_000_000
Row = dict[str, Any]
Message = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """Messages of one table, of which all after the first come in a second run."""

    table: str
    messages: Sequence[Message]
    #: Row and number of equal ones.
    rows: list[tuple[Row, int]]


def canal(op: str, key: str, row: Row, old: Row | None = None) -> Message:
    """`key`: names of its columns; empty in a keyless table."""
    return {
        "type": op,
        "database": "keys",
        "pkNames": key.split() or None,
        "mysqlType": dict.fromkeys(row, "varchar(9)"),
        "data": [row],
        "old": old and [old],
    }


def row(a: str, b: str) -> Row:
    return {"a": a, "b": b}


CASES = {
    "a first key of all columns": Case(
        "first_key",
        [
            canal("INSERT", "", row("1", "2")),
            canal("INSERT", "a b", row("3", "4")),
            canal("UPDATE", "a b", row("1", "5"), {"b": "2"}),
        ],
        [(row("1", "5"), 1), (row("3", "4"), 1)],
    ),
    "a first key of all columns in another order than that of their names": Case(
        "first_key_in_another_order",
        [
            canal("INSERT", "", row("1", "2")),
            canal("INSERT", "b a", row("3", "4")),
            canal("UPDATE", "b a", row("1", "5"), {"b": "2"}),
        ],
        [(row("1", "5"), 1), (row("3", "4"), 1)],
    ),
    "a lost key of all columns": Case(
        "lost_key",
        [canal("INSERT", "a b", row("1", "2")), canal("INSERT", "", row("1", "2"))],
        [(row("1", "2"), 2)],
    ),
    "a key of another column after a truncation": Case(
        "truncated",
        [
            canal("INSERT", "a", row("1", "2")),
            {"type": "TRUNCATE", "database": "keys", "isDdl": True, "sql": "truncate truncated"},
            canal("INSERT", "b", row("1", "3")),
            canal("UPDATE", "b", row("4", "3"), {"a": "1"}),
        ],
        [(row("4", "3"), 1)],
    ),
    # A known limit: DATETIME becomes DATETIME(3), so that the texts of old keys change.
    "a key whose column gets another type": Case(
        "retyped",
        [
            canal("INSERT", "a", row("12:00:00", "1")),
            canal("INSERT", "a", row("13:00:00.000", "1")),
            canal("UPDATE", "a", row("12:00:00.000", "2"), {"b": "1"}),
            canal("DELETE", "a", row("13:00:00.000", "1")),
        ],
        [(row("12:00:00", "1"), 1), (row("12:00:00.000", "2"), 1)],
    ),
}


def land(project: Project, run: int) -> None:
    project.land(
        "canal_json",
        [
            Landed(case.table, offset, json.dumps(placed(message, case, offset)).encode())
            for case in CASES.values()
            for offset, message in enumerate(case.messages)
            if min(offset, 1) == run
        ],
    )


def placed(message: Message, case: Case, offset: int) -> Message:
    millis = START + offset * 1000
    return message | {"table": case.table, "es": millis, "ts": millis}


@pytest.mark.parametrize("name", CASES)
def test_each_row_is_there_once(stages: Stages, name: str) -> None:
    case = CASES[name]
    states = stages.last.of_table(LATEST_STATE, "canal_json", f"keys.{case.table}")
    rows = [(state["row"], state["row_count"]) for state in states]
    assert sorted(rows, key=str) == sorted(case.rows, key=str)
