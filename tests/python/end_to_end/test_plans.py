"""What the models cost, by the plans that Spark ran: a change that adds a shuffle is seen here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.python.end_to_end.plans import Plan, run_and_watch
from tests.python.harness.copied_project import copy_with_typed_marts
from tests.python.harness.executors import without_python
from tests.python.harness.project import Landed, Project
from tests.python.samples.files import samples

#: Between them they have all that the fold makes a difference of: order by landing, halves of
#: updates, redeliveries, keys that change by a delete and an insert, a typed mart.  Spark joins the
#: rows of each format apart, so more formats have more shuffles, of the same kinds.
FORMATS = ("canal_json", "shareplex_json", "cdl_debezium_json")
#: Typed marts of other formats.
LEFT_OUT = ("--exclude", "shop_customers", "shop_payments")
#: A join of two tables shuffles both, and no stage that finds no rows leaves out those behind it.
LIKE_LARGE_TABLES = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
}
#: Table -> shuffles of its write, at most, in a first run and in one with more messages.  A join
#: has two, or one where the rows are already together.  A budget is what is measured and up to a
#: fifth more.  The later half of the samples has no news for `int_keyless_rows`.
BUDGETS = {
    "intermediate.int_exceptional_records": (18, 6),
    "intermediate.int_table_schemas": (10, 8),
    "intermediate.int_row_state": (7, 6),
    "intermediate.int_keyless_rows": (13, None),
    "marts.shop_orders": (30, 15),
}
#: View -> shuffles of a query of all its rows, at most; each use of another view counts.
VIEW_BUDGETS = {"change_events": 14, "latest_state": 30, "row_history": 25}

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def project(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The project where all tables count as large, in sessions of dbt's threads too."""
    project = Project(spark, copy_with_typed_marts(tmp_path_factory.mktemp("plans")))
    project.empty()
    conf, spark_conf = spark.conf, spark._jsc.sc().conf()

    def settle(settings: dict[str, str]) -> None:
        for name, value in settings.items():
            conf.set(name, value)
            spark_conf.set(name, value)

    usual = {name: conf.get(name) for name in LIKE_LARGE_TABLES}
    settle(LIKE_LARGE_TABLES)
    yield project
    settle(usual)


@pytest.fixture(scope="module")
def runs(project: Project) -> list[dict[str, Plan]]:
    """Table -> the plan that wrote it, in a first run over every other message, and in one more.

    Executors have no Python, so a model that needs it fails.
    """
    return [_run_over(project, half) for half in range(2)]


@pytest.mark.parametrize("run", [0, 1])
def test_no_model_runs_python_on_rows(runs: list[dict[str, Plan]], run: int) -> None:
    assert [table for table, plan in runs[run].items() if plan.runs_python] == []


@pytest.mark.parametrize("run", [0, 1])
def test_tables_are_filled_within_their_budgets(runs: list[dict[str, Plan]], run: int) -> None:
    budgets = {table: of[run] for table, of in BUDGETS.items() if of[run] is not None}
    shuffles = {table: runs[run][table].shuffles for table in budgets}
    assert {table: n for table, n in shuffles.items() if n > budgets[table]} == {}


def test_staging_is_filled_without_a_shuffle(runs: list[dict[str, Plan]]) -> None:
    """In a later run, what was landed before is looked for in the range of offsets that came."""
    for run, most in enumerate((0, 1)):
        shuffles = {name: runs[run][f"staging.stg_{name}"].shuffles for name in FORMATS}
        assert {name: n for name, n in shuffles.items() if n > most} == {}


def test_views_are_read_within_their_budgets(runs: list[dict[str, Plan]], project: Project) -> None:
    plans = {
        view: project.spark.table(f"marts.{view}")._jdf.queryExecution().executedPlan()
        for view in VIEW_BUDGETS
    }
    shuffles = {view: Plan(plan.toString()).shuffles for view, plan in plans.items()}
    assert {view: n for view, n in shuffles.items() if n > VIEW_BUDGETS[view]} == {}


def test_a_run_with_nothing_new_only_records_itself(
    project: Project, runs: list[dict[str, Plan]]
) -> None:
    scheduler = project.spark.sparkContext._jsc.sc().dagScheduler()
    stages = scheduler.nextStageId()

    project.dbt("run", *LEFT_OUT)

    assert scheduler.nextStageId() == stages + 1


def _run_over(project: Project, half: int) -> dict[str, Plan]:
    for source_format in FORMATS:
        messages = samples(source_format)[half::2]
        project.land(
            source_format,
            [Landed(m.topic, m.offset, m.value, m.key, m.partition) for m in messages],
        )
    with without_python(project.spark):
        return run_and_watch(project, *LEFT_OUT)
