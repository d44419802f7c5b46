"""Transactions that were open when a full load began: the stream publishes them behind the load.

Debezium gives the rows of a load the log position at which the load began.  Such a transaction has
written before this position, and it commits after it.  So its changes have lower positions than
the rows that they change.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from tests.python.harness.project import LANDED_AT, Landed, Project
from tests.python.histories.marts import ROW_HISTORY, Row, Stages

pytestmark = pytest.mark.thorough

START = 1_709_280_000_000
PLACEHOLDER = "__debezium_unavailable_value"
FORMAT = "cdl_debezium_json"

Message = dict[str, Any]


def change(
    op: str,
    lsn: int,
    id_: int,
    status: str | None,
    note: str | None = "n",
    transaction: int | None = None,
) -> Message:
    """A row that is loaded (`r`), written (`c`, `u`) or deleted (`d`)."""
    image = {"id": id_, "status": status, "note": note}
    is_delete = op == "d"
    return {
        "before": image if is_delete else None,
        "after": None if is_delete else image,
        "source": {
            "connector": "postgresql",
            "lsn": lsn,
            "txId": transaction or lsn,
            "snapshot": "true" if op == "r" else "false",
        },
        "op": op,
        "message_version": "2.0",
        "unique": {"id": id_},
    }


def loaded_without_position(id_: int, status: str) -> Message:
    """A row of an incremental snapshot."""
    message = change("r", 0, id_, status)
    source = {**message["source"], "lsn": None, "txId": None, "snapshot": "incremental"}
    return {**message, "source": source}


def row(id_: int, status: str, note: str = "n") -> Row:
    return {"id": id_, "status": status, "note": note}


@dataclass(frozen=True)
class Case:
    """`runs`: the messages that land before each run, by their offset.

    `repair`: the run before which `cdc-marts resync` is called. Its load lands after the first run.
    """

    name: str
    runs: list[dict[int, Message]]
    rows: list[Row]
    repair: int | None = None


LOAD = {0: change("r", 100, 1, "loaded"), 1: change("r", 100, 2, "loaded")}
DELETE = change("d", 90, 2, None)
UPDATE = change("u", 80, 1, "updated", PLACEHOLDER)
LATER = change("u", 110, 1, "later")
#: The time of a message without a position, as a position.
WITHOUT_POSITION = 500
#: The first offset that stands for a message in another partition.
OTHER = 1_000


def key_changes_of_a_transaction(rows_in: int, others_in: int) -> list[dict[int, Message]]:
    """Two rows get other keys, which are in another partition.

    The positions show which delete has which insert. `rows_in`, `others_in`: the first offsets of
    the two partitions.
    """
    return [
        {
            rows_in: change("r", 100, 1, "loaded", "of 1"),
            rows_in + 1: change("r", 100, 2, "loaded", "of 2"),
            others_in: change("r", 100, 5, "loaded"),
        },
        {
            rows_in + 2: change("d", 80, 1, None, None, transaction=7),
            rows_in + 3: change("d", 90, 2, None, None, transaction=7),
            others_in + 1: change("c", 80, 3, "moved", PLACEHOLDER, transaction=7),
            others_in + 2: change("c", 90, 4, "moved", PLACEHOLDER, transaction=7),
        },
    ]


#: A change that had landed when the load began that repairs the table.
REPORTED = {
    0: change("r", 50, 1, "loaded"),
    1: change("r", 50, 5, "loaded"),
    2: change("u", 200, 5, "reported"),
}
#: The transaction was open then. Its row gets another key, and it inserts two rows.
RELOAD = {10: change("r", 300, 1, "again"), 11: change("r", 300, 5, "again")}
RELOAD_WITHOUT_POSITIONS = {
    10: loaded_without_position(1, "again"),
    11: loaded_without_position(5, "again"),
}
OPEN_TRANSACTION = {
    12: change("d", 100, 1, None, None, transaction=7),
    13: change("c", 100, 2, "moved", PLACEHOLDER, transaction=7),
    14: change("c", 101, 9, "new", transaction=7),
    15: change("c", 102, 8, "deleted soon", transaction=7),
    16: change("u", 240, 9, "newer", transaction=7),
    17: change("d", 250, 8, None, None, transaction=7),
}
REPAIRED = [row(2, "moved"), row(5, "again"), row(9, "newer")]


def keyless(messages: dict[int, Message]) -> dict[int, Message]:
    return {offset: {**message, "unique": {}} for offset, message in messages.items()}


def without_note(id_: int, lsn: int, status: str) -> Message:
    """Return an insert of a time in which the table had no `note`."""
    return {**change("c", lsn, id_, status), "after": {"id": id_, "status": status}}


def of_table(message: Message, table: str) -> Message:
    return {**message, "source": {**message["source"], "table": table}}


TRUNCATION = {**change("t", 130, 0, None), "before": None, "after": None, "unique": {}}
CASES = [
    Case("in_one_run", [{**LOAD, 2: DELETE, 3: UPDATE}], [row(1, "updated")]),
    Case("in_a_later_run", [LOAD, {2: DELETE}, {3: UPDATE}], [row(1, "updated")]),
    Case("the_load_lands_late", [{2: DELETE, 3: UPDATE}, LOAD], [row(1, "updated")]),
    Case("a_later_change_wins", [{**LOAD, 2: LATER}, {3: DELETE}], [row(1, "later")]),
    Case(
        "another_load_is_newer",
        [{**LOAD, 2: LATER}, {3: change("r", 200, 1, "again"), 4: change("u", 190, 2, "updated")}],
        [row(1, "again"), row(2, "updated")],
    ),
    Case(
        "two_keys_change_into_a_higher_partition",
        key_changes_of_a_transaction(0, OTHER),
        [row(3, "moved", "of 1"), row(4, "moved", "of 2"), row(5, "loaded")],
    ),
    Case(
        "two_keys_change_into_a_lower_partition",
        key_changes_of_a_transaction(OTHER, 0),
        [row(3, "moved", "of 1"), row(4, "moved", "of 2"), row(5, "loaded")],
    ),
    # All changes of a transaction may have one position.
    Case(
        "a_value_is_older_than_the_transaction",
        [
            {
                OTHER: change("r", 100, 1, "loaded", "old"),
                OTHER + 1: change("u", 200, 1, "changed", "new", transaction=7),
                OTHER + 2: change("d", 200, 1, None, None, transaction=7),
                0: change("c", 200, 2, "moved", PLACEHOLDER, transaction=7),
            }
        ],
        [row(2, "moved", "new")],
    ),
    # Databases of two servers may share a topic; their positions mean nothing to each other.
    Case(
        "another_table_is_loaded_in_the_topic",
        [
            {
                0: of_table(change("r", 9_000, 9, "loaded"), "elsewhere"),
                1: change("c", 200, 1, "new", "n"),
                OTHER: of_table(change("r", 9_000, 9, "loaded"), "elsewhere"),
                OTHER + 1: without_note(2, 100, "old"),
            },
            {OTHER + 2: TRUNCATION, 2: change("c", 140, 3, "behind the truncation")},
        ],
        [row(1, "new"), row(3, "behind the truncation")],
    ),
    # A second job loads, while the stream of the first still reports the table as it was.
    Case(
        "the_load_is_ahead_of_the_stream",
        [
            {0: without_note(3, 50, "before")},
            {
                1: change("r", 100, 1, "loaded"),
                2: change("r", 100, 2, "loaded"),
                3: without_note(2, 60, "old"),
                4: change("u", 70, 2, "loaded", "n"),
            },
        ],
        [row(1, "loaded"), row(2, "loaded"), {"id": 3, "status": "before"}],
    ),
    # The rows changed beside their deletes, whose partition sorts behind that of the inserts.
    Case(
        "two_keys_change_to_a_lower_partition",
        [
            {
                OTHER: change("r", 70, 1, "loaded", "old"),
                OTHER + 1: change("r", 70, 2, "loaded", "old"),
                0: change("r", 70, 5, "loaded"),
            },
            {
                OTHER + 2: change("u", 80, 1, "updated", "of 1", transaction=7),
                OTHER + 3: change("d", 80, 1, None, None, transaction=7),
                OTHER + 4: change("u", 90, 2, "updated", "of 2", transaction=7),
                OTHER + 5: change("d", 90, 2, None, None, transaction=7),
                1: change("c", 80, 3, "moved", PLACEHOLDER, transaction=7),
                2: change("c", 90, 4, "moved", PLACEHOLDER, transaction=7),
            },
        ],
        [row(3, "moved", "of 1"), row(4, "moved", "of 2"), row(5, "loaded")],
    ),
    Case(
        "a_newer_load_has_no_positions",
        [
            LOAD,
            {2: change("u", 110, 2, "changed")},
            {3: loaded_without_position(1, "again"), 4: loaded_without_position(2, "changed")},
        ],
        [row(1, "again"), row(2, "changed")],
    ),
    Case(
        "the_older_load_lands_late",
        [
            {2: loaded_without_position(1, "again"), 3: loaded_without_position(2, "again")},
            {4: DELETE, **LOAD},
        ],
        [row(1, "again")],
    ),
    Case("a_load_repairs_the_table", [REPORTED, {**RELOAD, **OPEN_TRANSACTION}], REPAIRED, 2),
    Case("the_repair_is_before_the_commit", [REPORTED, RELOAD, OPEN_TRANSACTION], REPAIRED, 1),
    Case("the_load_of_a_repair_lands_late", [REPORTED, OPEN_TRANSACTION, RELOAD], REPAIRED, 2),
    Case(
        "a_load_without_positions_repairs_the_table",
        [REPORTED, RELOAD_WITHOUT_POSITIONS, OPEN_TRANSACTION],
        REPAIRED,
        2,
    ),
    Case(
        "a_load_repairs_a_table_without_a_key",
        [
            keyless(REPORTED),
            keyless(RELOAD | {12: change("d", 100, 5, "again"), 13: change("c", 101, 9, "new")}),
        ],
        [row(1, "again"), row(9, "new")],
        2,
    ),
    Case(
        "a_row_comes_back",
        [{**LOAD, 2: DELETE}, {3: change("c", 95, 2, "back")}],
        [row(1, "loaded"), row(2, "back")],
    ),
]


def land(project: Project, run: int) -> None:
    project.land(
        FORMAT,
        [
            Landed(f"open {case.name}", offset, _value(message, case), partition=offset // OTHER)
            for case in CASES
            for offset, message in (case.runs[run] if run < len(case.runs) else {}).items()
        ],
        LANDED_AT + dt.timedelta(days=run),
    )
    requests = project.spark.table("landing.resyncs")
    project.spark.createDataFrame(
        [_request(case) for case in CASES if case.repair == run], requests.schema
    ).writeTo("landing.resyncs").append()


def _request(case: Case) -> tuple[Any, ...]:
    """Return what `cdc-marts resync` notes."""
    load, command = (LANDED_AT + dt.timedelta(days=days) for days in (1, 9))
    return (FORMAT, _table_id(case), 1, None, load, Decimal(200), command)


def _table_id(case: Case) -> str:
    return f"open.public.{case.name}"


def _value(message: Message, case: Case) -> bytes:
    source = {"db": "open", "schema": "public", "table": case.name, **message["source"]}
    lsn = message["source"]["lsn"]
    times = {"ts_ms": START + (WITHOUT_POSITION if lsn is None else lsn)}
    return json.dumps({**message, **times, "source": {**source, **times}}).encode()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rows_are_those_of_the_table(stages: Stages, case: Case) -> None:
    table_id = _table_id(case)
    for marts in (stages.last, stages.rebuilt):
        assert marts.state(FORMAT, table_id) == case.rows
        open_rows = [
            version["row"]
            for version in marts.of_table(ROW_HISTORY, FORMAT, table_id)
            if version["is_current"]
        ]
        assert sorted(open_rows, key=lambda one: one["id"]) == case.rows
