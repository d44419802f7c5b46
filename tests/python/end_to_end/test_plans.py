"""What the models cost, by the plans that Spark ran: a change that adds a shuffle is seen here."""

from __future__ import annotations

import pytest

from tests.python.end_to_end.plans import Plan, run_and_watch
from tests.python.end_to_end.project import Landed, Project
from tests.python.executors import without_python
from tests.python.samples.files import samples

pytestmark = pytest.mark.thorough

#: Table -> shuffles while it is built from Canal JSON, at most.  Those of exceptional records are
#: empty: Canal JSON has neither redeliveries that are known nor halves.
SHUFFLES = {
    "staging.stg_canal_json": 0,
    "intermediate.int_exceptional_records": 4,
    "intermediate.int_row_state": 1,
    "intermediate.int_table_schemas": 3,
}
#: View -> shuffles of a query of all its rows, at most: Spark spares some where it knows in time
#: that one side of a join is small.  One is of the columns that tables lost: a sample drops one.
VIEW_SHUFFLES = {"marts.change_events": 0, "marts.latest_state": 4, "marts.row_history": 7}


@pytest.fixture(scope="module")
def built(project: Project) -> dict[str, Plan]:
    """Table -> the plan that filled it, in the first run over Canal JSON.

    Executors have no Python, so a model that needs it fails.
    """
    rows = [Landed(m.topic, m.offset, m.value, m.key, m.partition) for m in samples("canal_json")]
    for half in (rows[::2], rows[1::2]):
        project.land("canal_json", half)
    with without_python(project.spark):
        return run_and_watch(project)


def test_no_model_runs_python_on_rows(built: dict[str, Plan]) -> None:
    assert built.keys() >= SHUFFLES.keys()
    assert [table for table, plan in built.items() if plan.runs_python] == []


def test_tables_are_filled_with_so_many_shuffles(built: dict[str, Plan]) -> None:
    shuffles = {table: built[table].shuffles for table in SHUFFLES}
    assert {table: n for table, n in shuffles.items() if n > SHUFFLES[table]} == {}


def test_views_are_read_with_so_many_shuffles(project: Project, built: dict[str, Plan]) -> None:
    plans = {}
    for view in VIEW_SHUFFLES:
        frame = project.spark.table(view)
        frame.collect()
        plans[view] = Plan(frame._jdf.queryExecution().executedPlan().toString())
    shuffles = {view: plan.shuffles for view, plan in plans.items()}
    assert {view: n for view, n in shuffles.items() if n > VIEW_SHUFFLES[view]} == {}


def test_a_run_with_nothing_new_only_records_itself(
    project: Project, built: dict[str, Plan]
) -> None:
    scheduler = project.spark.sparkContext._jsc.sc().dagScheduler()
    stages = scheduler.nextStageId()

    project.dbt("run")

    assert scheduler.nextStageId() == stages + 1
