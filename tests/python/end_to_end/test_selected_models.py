"""A typed mart that runs while the state is behind loses nothing, whatever runs next."""

from __future__ import annotations

import pytest

from tests.python.encoders import canal_json
from tests.python.encoders.changes import INSERT, UPDATE, Place, RowChange, Table
from tests.python.end_to_end.project import Landed, Project

pytestmark = pytest.mark.thorough

ORDERS = Table("orders", {"id": "long", "status": "text"}, ("id",), "shop")
NEW, SENT = ({"id": 1, "status": status} for status in ("new", "sent"))
MART = "shop_orders"


@pytest.fixture(scope="module")
def statuses(project: Project) -> list[list[str]]:
    """What the mart held after each run: of all models, of the mart before the state, of all."""
    held = []

    def run(*selection: str) -> None:
        project.dbt("run", *(("--select", " ".join(selection)) if selection else ()))
        held.append([row["status"] for row in project.rows(f"select status from marts.{MART}")])

    land(project, 0, RowChange(INSERT, ORDERS, place(0), None, NEW))
    run()
    land(project, 1, RowChange(UPDATE, ORDERS, place(1), NEW, SENT))
    project.dbt(
        "run",
        "--select",
        "stg_canal_json+1 int_raised_positions int_records int_exceptional_records",
    )
    run(MART)
    run()
    run()
    return held


def test_a_mart_that_runs_before_the_state_gets_its_rows_later(
    statuses: list[list[str]],
) -> None:
    assert statuses == [["new"], ["new"], ["sent"], ["sent"]]


def place(position: int) -> Place:
    return Place(position, 1_760_000_000_000 + position)


def land(project: Project, offset: int, change: RowChange) -> None:
    [message] = canal_json.encode(change)
    project.land("canal_json", [Landed("orders", offset, message.value)])
