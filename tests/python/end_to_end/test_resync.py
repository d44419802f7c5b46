"""A table that differs from its source is repaired from a new full load, in one run."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from typer.testing import CliRunner

from cdc_marts.cli import app
from tests.python.end_to_end.project import LANDED_AT, Landed, Project, content

#: A format with log positions, and one that is ordered by landing.
STREAMX, CANAL = "dataworks_json", "canal_json"
TABLE = "shop.orders"
LOADED_AT = LANDED_AT + dt.timedelta(days=1)
MARTS = ("change_events", "latest_state", "row_history", "message_ledger", "source_tables")
#: Data tests of what holds, whatever is repaired.
PROMISES = (
    "test_name:sequence_is_unique",
    "test_name:history_equals_state",
    "test_name:ledger_balances",
)
SECOND = 1_767_225_600_000

Row = Mapping[str, Any]
#: operation, position, row, row before
Change = tuple[str, int, Row, Row | None]

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("command_line")]


def row(id_: int, v: str) -> dict[str, Any]:
    return {"id": id_, "v": v}


#: What the stream published: the last update of 2 and the delete of 3 were lost.
BEFORE: Sequence[Change] = [
    ("snapshot", -1, row(1, "a"), None),
    ("snapshot", -1, row(2, "a"), None),
    ("snapshot", -1, row(3, "a"), None),
    ("snapshot", -1, row(5, "same"), None),
    ("update", 100, row(1, "b"), row(1, "a")),
    ("insert", 101, row(4, "a"), None),
    ("update", 102, row(2, "b"), row(2, "a")),
]
#: The new load, and what the stream publishes meanwhile and later.
SINCE: Sequence[Change] = [
    ("snapshot", -1, row(1, "b"), None),
    ("snapshot", -1, row(2, "new"), None),
    ("update", 110, row(1, "c"), row(1, "b")),
    ("snapshot", -1, row(4, "a"), None),
    ("snapshot", -1, row(5, "same"), None),
    ("delete", 111, row(4, "a"), None),
]
#: A load goes on after it was asked for.
LATER: Sequence[Change] = [
    ("snapshot", -1, row(6, "late"), None),
    ("insert", 112, row(7, "x"), None),
]
REPAIRED = [row(1, "c"), row(2, "new"), row(5, "same")]
AT_LAST = [*REPAIRED, row(6, "late"), row(7, "x")]


def streamx(op: str, position: int, after: Row, before: Row | None, index: int) -> Row:
    codes = {"snapshot": "INSERT", "insert": "INSERT", "update": "UPDATE_AFTER", "delete": "DELETE"}
    time = -1 if op == "snapshot" else SECOND + index
    if op == "delete":
        before, after = after, None
    return {
        "schema": {
            "dataColumn": [{"name": "id", "type": "LONG"}, {"name": "v", "type": "STRING"}],
            "primaryKey": ["id"],
            "source": {"dbType": "PostgreSQL", "dbName": "shop", "tableName": "orders"},
        },
        "payload": {
            "before": before and {"dataColumn": before},
            "after": after and {"dataColumn": after},
            "sequenceId": str(position),
            "op": codes[op],
            "timestamp": {"eventTime": time, "systemTime": time, "checkpointTime": time},
        },
    }


def canal(op: str, _: int, after: Row, before: Row | None, index: int) -> Row:
    image = {name: str(value) for name, value in after.items()}
    return {
        "database": "shop",
        "table": "orders",
        "type": "INIT" if op == "snapshot" else op.upper(),
        "es": SECOND,
        "ts": SECOND + index,
        "isDdl": False,
        "pkNames": ["id"],
        "mysqlType": {"id": "bigint", "v": "varchar(10)"},
        "data": [image],
        "old": None if before is None else [{"v": before["v"]}],
    }


ENCODE = {STREAMX: streamx, CANAL: canal}


def land(project: Project, first: int, changes: Sequence[Change], at: dt.datetime) -> None:
    for source_format, encode in ENCODE.items():
        landed = [
            Landed("t", first + index, json.dumps(encode(*change, first + index)).encode())
            for index, change in enumerate(changes)
        ]
        project.land(source_format, landed, at)


def rows_of(project: Project, source_format: str) -> list[dict[str, Any]]:
    found = [state["row"] for state in project.latest_state(source_format, TABLE)]
    return sorted(({**one, "id": int(one["id"])} for one in found), key=lambda one: one["id"])


def resync(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["resync", *arguments])


@pytest.fixture(scope="module")
def diverged(project: Project) -> Project:
    land(project, 0, BEFORE, LANDED_AT)
    project.dbt("run", "--full-refresh")
    land(project, len(BEFORE), SINCE, LOADED_AT)
    project.dbt("run")
    return project


@pytest.fixture(scope="module")
def repaired(diverged: Project, command_line: None) -> tuple[Project, dict[str, str]]:
    """The project after a repair of each table, and what the command said."""
    for source_format in ENCODE:
        assert row(3, "a") in rows_of(diverged, source_format)
    said = {}
    for source_format in ENCODE:
        since = (LOADED_AT - dt.timedelta(hours=1)).isoformat()
        done = resync("--format", source_format, "--table", TABLE, "--since", since)
        assert done.exit_code == 0, done.output
        said[source_format] = done.output
    return diverged, said


@pytest.mark.parametrize("source_format", ENCODE)
def test_a_full_load_repairs_its_table(
    repaired: tuple[Project, dict[str, str]], source_format: str
) -> None:
    project, said = repaired
    assert rows_of(project, source_format) == REPAIRED
    [line] = [line for line in said[source_format].splitlines() if "repaired" in line]
    assert "from 4 rows of the load since 2026-01-01 23:00:00 UTC" in line
    assert "The table had 4 rows and now has 3." in line


def test_what_lands_later_takes_its_place_and_a_rebuild_gives_the_same(
    repaired: tuple[Project, dict[str, str]],
) -> None:
    project, _ = repaired
    land(project, len(BEFORE) + len(SINCE), LATER, LOADED_AT + dt.timedelta(hours=1))
    project.dbt("run")
    for source_format in ENCODE:
        assert rows_of(project, source_format) == AT_LAST
    project.dbt("test", "--select", *PROMISES)
    before = {mart: content(project.spark, f"marts.{mart}") for mart in MARTS}
    project.dbt("run", "--full-refresh")
    assert {mart: content(project.spark, f"marts.{mart}") for mart in MARTS} == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--table", "shop.order", "--since", "2026-01-01"), "Did you mean shop.orders?"),
        (
            ("--table", "shop.orders", "--topic", "other"),
            "No run has read a row of a full load",
        ),
        (("--table", "shop.orders", "--since", "2027-01-01"), "Land the load, run dbt"),
        (
            ("--table", "shop.orders", "--since", "2026-01-01T12:00"),
            "was already repaired",
        ),
        (("--table", "shop.orders", "--since", "today"), "needs a time"),
        (("--table", "shop.orders"), "Identify the load"),
    ],
)
def test_what_cannot_be_repaired_is_said(
    repaired: tuple[Project, dict[str, str]], arguments: tuple[str, ...], reason: str
) -> None:
    done = resync("--format", CANAL, *arguments)
    assert done.exit_code != 0
    assert reason in " ".join(done.output.split())
