"""A TRUNCATE still ends what was before it that lands late, or that is of a table not yet seen."""

from __future__ import annotations

from typing import Any

import pytest

from tests.python.encoders import dataworks_json
from tests.python.encoders.changes import INSERT, UPDATE, Change, Ddl, Place, RowChange, Table
from tests.python.harness.project import Landed, Project
from tests.python.histories.marts import Marts, Stages

pytestmark = pytest.mark.thorough

TABLE = Table("late_truncations", {"id": "long", "status": "text"}, ("id",))
OLD, NEW, MOVED, MOVED_AGAIN = (
    {"id": id_, "status": status}
    for id_, status in ((2, "old"), (1, "new"), (2, "new"), (3, "new"))
)


def place(position: int, second: int) -> Place:
    return Place(position, 1_709_280_000_000 + second * 1000)


#: All but the first are of one time: without the TRUNCATE two rows would have met under key 2, and
#: the one that came would have left again.
CREATED = RowChange(INSERT, TABLE, place(1, 0), None, OLD)
TRUNCATED = Ddl("truncate", TABLE, place(2, 1), "TRUNCATE late_truncations, late_table")
#: Of a table that is first seen by it.
LATE = RowChange(INSERT, Table("late_table", TABLE.columns, ("id",)), place(1, 0), None, NEW)
CHANGES = (
    RowChange(INSERT, TABLE, place(3, 1), None, NEW),
    RowChange(UPDATE, TABLE, place(4, 1), NEW, MOVED),
    RowChange(UPDATE, TABLE, place(5, 1), MOVED, MOVED_AGAIN),
)


#: What lands before each run, by its first offset.
RUNS = ((0, (CREATED, *CHANGES)), (10, (TRUNCATED,)), (20, (LATE,)))


def land(project: Project, run: int) -> None:
    first_offset, changes = RUNS[run]
    project.land("dataworks_json", messages(first_offset, *changes))


def test_rows_that_met_under_a_key_are_told_apart(stages: Stages) -> None:
    before, after, _ = stages.after_runs
    assert rows(before) == [OLD, MOVED_AGAIN]
    assert rows(after) == [MOVED_AGAIN]
    assert rows(stages.rebuilt) == [MOVED_AGAIN]


def test_a_table_that_is_seen_later_leaves_the_other_tables_of_a_truncate_ended(
    stages: Stages,
) -> None:
    assert rows(stages.last) == [MOVED_AGAIN]


def messages(first_offset: int, *changes: Change) -> list[Landed]:
    return [
        Landed("late truncations", offset, message.value)
        for offset, change in enumerate(changes, start=first_offset)
        for message in dataworks_json.encode(change, split_updates=False)
    ]


def rows(marts: Marts) -> list[dict[str, Any]]:
    """Those of both tables."""
    tables = ("shop.late_truncations", "shop.late_table")
    return [row for table in tables for row in marts.state("dataworks_json", table)]
