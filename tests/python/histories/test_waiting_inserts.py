"""Inserts that waited until another transaction had deleted the row of their key.

PostgreSQL logs an insert before it waits.  So the insert has a lower log position than the delete,
and is published behind it, with the time of a later commit.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.python.harness.project import LANDED_AT, Landed, Project
from tests.python.histories.marts import ROW_HISTORY, Row, Stages

pytestmark = pytest.mark.thorough

START = 1_709_280_000_000
PLACEHOLDER = "__debezium_unavailable_value"
CDL_JSON, DEBEZIUM = "cdl_json", "cdl_debezium_json"


@dataclass(frozen=True)
class Transaction:
    number: int
    committed_at: int


@dataclass(frozen=True)
class Change:
    """`after` null: a delete; `old_id`: the key before a key change, which CDL JSON has as one."""

    op: str
    lsn: int
    transaction: Transaction
    id_: int
    status: str | None = None
    note: str = "n"
    old_id: int | None = None


BEFORE = Transaction(700, 1)
DELETING, WAITING, WAITING_LONGER = (Transaction(number, number) for number in (725, 726, 727))
#: Its commit was earlier than that of the delete, or its time does not tell.
OLDER, AT_ONE_TIME = Transaction(724, 724), Transaction(728, 725)


def insert(
    lsn: int, transaction: Transaction, id_: int = 1, status: str = "new", note: str = "n"
) -> Change:
    return Change("c", lsn, transaction, id_, status, note)


def update(lsn: int, transaction: Transaction, status: str) -> Change:
    return Change("u", lsn, transaction, 1, status)


def delete(lsn: int, transaction: Transaction, id_: int = 1) -> Change:
    return Change("d", lsn, transaction, id_)


def key_change(lsn: int, transaction: Transaction, old_id: int, id_: int, note: str) -> Change:
    return Change("u", lsn, transaction, id_, "moved", note, old_id)


@dataclass(frozen=True)
class Case:
    """`runs`: the changes that land before each run, by their offset."""

    name: str
    runs: list[dict[int, Change]]
    rows: list[Row]
    formats: tuple[str, ...] = (CDL_JSON, DEBEZIUM)


def row(id_: int, status: str, note: str = "n") -> Row:
    return {"id": id_, "status": status, "note": note}


OLD = insert(10, BEFORE, status="old")
CHANGED = update(480, DELETING, "changed")
DELETE = delete(624, DELETING)
INSERT = insert(560, WAITING)
LATE = insert(560, OLDER)
CASES = [
    Case("in_one_run", [{0: OLD, 1: CHANGED, 2: DELETE, 3: INSERT}], [row(1, "new")]),
    Case("in_a_later_run", [{0: OLD, 1: CHANGED, 2: DELETE}, {3: INSERT}], [row(1, "new")]),
    Case(
        "the_delete_lands_late", [{0: OLD, 3: INSERT}, {2: DELETE}, {1: CHANGED}], [row(1, "new")]
    ),
    Case(
        "the_row_locks",
        [{0: insert(500, DELETING, status="lock"), 1: delete(600, DELETING), 2: INSERT}],
        [row(1, "new")],
    ),
    Case(
        "it_changes_again",
        [{0: OLD, 1: DELETE, 2: INSERT}, {3: update(700, WAITING, "changed")}],
        [row(1, "changed")],
    ),
    Case("it_is_deleted", [{0: OLD, 1: DELETE, 2: INSERT}, {3: delete(700, WAITING)}], []),
    Case(
        "two_wait",
        [
            {0: OLD, 1: DELETE, 2: INSERT, 3: delete(700, WAITING)},
            {4: insert(570, WAITING_LONGER, status="last")},
        ],
        [row(1, "last")],
    ),
    Case(
        "keys_change",
        [
            {
                0: insert(10, BEFORE, 5, "five", "of 5"),
                1: insert(20, BEFORE, 7, "seven", "of 7"),
                2: key_change(624, DELETING, 5, 6, "of 5"),
                3: key_change(560, WAITING, 7, 5, "of 7"),
            }
        ],
        [row(5, "moved", "of 7"), row(6, "moved", "of 5")],
        (CDL_JSON,),
    ),
    Case(
        "split_keys_change",
        [
            {
                0: insert(10, BEFORE, 5, "five", "of 5"),
                1: insert(20, BEFORE, 7, "seven", "of 7"),
                2: delete(624, DELETING, 5),
                3: insert(624, DELETING, 6, "moved", PLACEHOLDER),
            },
            {
                4: delete(560, WAITING, 7),
                5: insert(560, WAITING, 5, "moved", PLACEHOLDER),
            },
        ],
        [row(5, "moved", "of 7"), row(6, "moved", "of 5")],
        (DEBEZIUM,),
    ),
    Case("sent_again", [{0: OLD, 1: DELETE, 2: INSERT}, {3: DELETE, 4: INSERT}], [row(1, "new")]),
    Case("deleted_again", [{0: OLD, 1: DELETE, 2: INSERT}, {3: DELETE}], [row(1, "new")]),
    Case("an_older_one_is_late", [{0: OLD, 1: DELETE}, {2: LATE}], []),
    Case("an_older_one_is_sent_again", [{0: LATE, 1: DELETE}, {2: LATE, 3: DELETE}], []),
    Case("the_copy_lands_first", [{2: LATE, 3: DELETE}, {0: LATE, 1: DELETE}], []),
    Case("the_time_does_not_tell", [{0: OLD, 1: DELETE}, {2: insert(560, AT_ONE_TIME)}], []),
]
OF_FORMATS = [(source_format, case) for case in CASES for source_format in case.formats]


def land(project: Project, run: int) -> None:
    for source_format in (CDL_JSON, DEBEZIUM):
        messages = [
            Landed(f"waiting {case.name}", offset, _value(source_format, change, case.name))
            for case in CASES
            if source_format in case.formats and run < len(case.runs)
            for offset, change in case.runs[run].items()
        ]
        project.land(source_format, messages, LANDED_AT + dt.timedelta(days=run))


def _value(source_format: str, change: Change, table: str) -> bytes:
    image = {"id": change.id_, "status": change.status, "note": change.note}
    old = None if change.old_id is None else {**image, "id": change.old_id}
    before, after = (image, None) if change.op == "d" else (old, image)
    of_format = _cdl_json if source_format == CDL_JSON else _debezium
    message = {**of_format(change, table), "before": before, "unique": {"id": change.id_}}
    return json.dumps({**message, "data" if source_format == CDL_JSON else "after": after}).encode()


def _cdl_json(change: Change, table: str) -> dict[str, Any]:
    place = {"lsn": change.lsn, "txId": change.transaction.number}
    return {
        "DATA_STORE": "POSTGRESQL",
        "SEG_OWNER": "waiting",
        "TABLE_NAME": table,
        "TIMESTAMP": START + change.transaction.committed_at,
        "OPERATION": {"c": "INSERT", "u": "UPDATE", "d": "DELETE"}[change.op],
        "transaction": {"properties": [{"name": name, "value": n} for name, n in place.items()]},
        "message_version": "1.0",
    }


def _debezium(change: Change, table: str) -> dict[str, Any]:
    return {
        "source": {
            "connector": "postgresql",
            "schema": "waiting",
            "table": table,
            "lsn": change.lsn,
            "txId": change.transaction.number,
            "ts_ms": START + change.transaction.committed_at,
            "snapshot": "false",
        },
        "ts_ms": START + 1_000,
        "op": change.op,
        "message_version": "2.0",
    }


@pytest.mark.parametrize(
    ("source_format", "case"), OF_FORMATS, ids=lambda of: getattr(of, "name", of)
)
def test_the_rows_are_those_of_the_table(stages: Stages, source_format: str, case: Case) -> None:
    table_id = f"waiting.{case.name}"
    for marts in (stages.last, stages.rebuilt):
        assert marts.state(source_format, table_id) == case.rows
        open_rows = [
            version["row"]
            for version in marts.of_table(ROW_HISTORY, source_format, table_id)
            if version["is_current"]
        ]
        assert sorted(open_rows, key=lambda one: one["id"]) == case.rows
