"""Shuffles of all models over all formats, where no table is small enough to be copied instead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import SOURCE_FORMATS
from tests.python.end_to_end.copied_project import copy_with_typed_marts
from tests.python.end_to_end.plans import Plan, run_and_watch
from tests.python.end_to_end.project import Landed, Project
from tests.python.samples.files import samples

#: A join of two tables shuffles both, and no stage that finds no rows leaves out those behind it.
LIKE_LARGE_TABLES = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
}
#: Table -> shuffles of its write, at most, in a first run and in one with more messages.  A join
#: has two, or one where the rows are already together.  The first run of `int_row_state` has the
#: joins with places, redeliveries and split updates, and groups by key; `int_keyless_rows` has
#: that with truncations besides.  Its later runs shuffle before they write.
BUDGETS = {
    "intermediate.int_exceptional_records": (20, 60),
    "intermediate.int_row_state": (6, 40),
    "intermediate.int_keyless_rows": (11, None),
    "marts.shop_orders": (25, 40),
}
#: View -> shuffles of a query of all its rows, at most; each use of another view counts.
VIEW_BUDGETS = {"change_events": 45, "latest_state": 25, "row_history": 130}

pytestmark = pytest.mark.long

Shuffles = dict[str, int]


@pytest.fixture(scope="module")
def project(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(spark, copy_with_typed_marts(tmp_path_factory.mktemp("shuffles")))
    project.empty()
    return project


@pytest.fixture(scope="module")
def large_project(project: Project) -> Iterator[Project]:
    """The project where all tables count as large, in sessions of dbt's threads too."""
    conf, spark_conf = project.spark.conf, project.spark._jsc.sc().conf()

    def settle(settings: dict[str, str]) -> None:
        for name, value in settings.items():
            conf.set(name, value)
            spark_conf.set(name, value)

    usual = {name: conf.get(name) for name in LIKE_LARGE_TABLES}
    settle(LIKE_LARGE_TABLES)
    yield project
    settle(usual)


@pytest.fixture(scope="module")
def runs(large_project: Project) -> list[Shuffles]:
    """Table -> shuffles of its write, in a first run over every other message, and in one more."""
    return [_shuffles_of_run(large_project, half) for half in range(2)]


@pytest.mark.parametrize("run", [0, 1])
def test_tables_are_filled_within_their_budgets(runs: list[Shuffles], run: int) -> None:
    budgets = {table: of[run] for table, of in BUDGETS.items() if of[run] is not None}
    over = {table: runs[run][table] for table, n in budgets.items() if runs[run][table] > n}
    assert over == {}


def test_staging_is_filled_without_a_shuffle(runs: list[Shuffles]) -> None:
    """In a later run, what was landed before is looked for in the range of offsets that came."""
    staging = [f"staging.stg_{source_format}" for source_format in SOURCE_FORMATS]
    assert {runs[0][table] for table in staging} == {0}
    assert {runs[1][table] for table in staging} == {1}


def test_views_are_read_within_their_budgets(runs: list[Shuffles], large_project: Project) -> None:
    plans = {
        view: large_project.spark.table(f"marts.{view}")._jdf.queryExecution().executedPlan()
        for view in VIEW_BUDGETS
    }
    shuffles = {view: Plan(plan.toString()).shuffles for view, plan in plans.items()}
    assert {view: n for view, n in shuffles.items() if n > VIEW_BUDGETS[view]} == {}


def _shuffles_of_run(project: Project, half: int) -> Shuffles:
    for source_format in SOURCE_FORMATS:
        messages = samples(source_format)[half::2]
        project.land(
            source_format,
            [Landed(m.topic, m.offset, m.value, m.key, m.partition) for m in messages],
        )
    written = run_and_watch(project).items()
    return {table: plan.shuffles for table, plan in written if not table.startswith("seeds.")}
