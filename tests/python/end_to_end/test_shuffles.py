"""Shuffles of all models over all formats, where no table is small enough to be copied instead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cdc_marts.formats import SOURCE_FORMATS
from tests.python.end_to_end.plans import Plan, run_and_watch
from tests.python.end_to_end.project import Landed, Project
from tests.python.samples.files import samples

#: A join of two tables shuffles both, and no stage that finds no rows leaves out those behind it.
LIKE_LARGE_TABLES = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
}
FIRST_RUN = {
    **{f"staging.stg_{source_format}": 0 for source_format in SOURCE_FORMATS},
    "intermediate.int_row_effects__redeliveries": 11,
    "intermediate.int_row_effects__moved_pairings": 11,
    "intermediate.int_row_effects": 19,
    "intermediate.int_table_schemas__new_sightings": 1,
    "intermediate.int_table_schemas": 2,
    "intermediate.int_completed_rows__moves": 7,
    "intermediate.int_completed_rows__lives": 12,
    "intermediate.int_completed_rows": 7,
    "intermediate.int_keyless_rows": 0,
    "intermediate.int_row_state__newest_effects": 1,
    "intermediate.int_row_state": 2,
    "marts.shop_customers": 9,
    "marts.shop_orders": 9,
    "marts.shop_payments": 9,
}
INCREMENT = {
    # What was landed before is looked for in the range of offsets that came.
    **{f"staging.stg_{source_format}": 2 for source_format in SOURCE_FORMATS},
    "intermediate.int_row_effects__redeliveries": 14,
    "intermediate.int_row_effects__moved_pairings": 11,
    "intermediate.int_row_effects": 60,
    "intermediate.int_table_schemas__new_sightings": 1,
    "intermediate.int_table_schemas": 5,
    "intermediate.int_completed_rows__moves": 7,
    "intermediate.int_completed_rows__lives": 12,
    "intermediate.int_completed_rows": 10,
    "intermediate.int_keyless_rows": 13,
    "intermediate.int_row_state__newest_effects": 1,
    "intermediate.int_row_state": 5,
    "marts.shop_customers": 24,
    "marts.shop_orders": 24,
    "marts.shop_payments": 24,
}
#: View -> shuffles of a query of all its rows; each use of another view counts.
VIEWS = {
    "change_events": 36,
    "ddl_events": 0,
    "heartbeats": 0,
    "latest_state": 9,
    "message_ledger": 9,
    "quarantined_messages": 0,
    "row_history": 125,
    "source_tables": 39,
    "transaction_events": 0,
}

pytestmark = pytest.mark.long

Shuffles = dict[str, int]


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


def test_a_first_run(runs: list[Shuffles]) -> None:
    assert runs[0] == FIRST_RUN


def test_an_increment(runs: list[Shuffles]) -> None:
    assert runs[1] == INCREMENT


def test_views(runs: list[Shuffles], large_project: Project) -> None:
    spark = large_project.spark
    views = [row["viewName"] for row in large_project.rows("show views in marts")]
    plans = {
        view: spark.table(f"marts.{view}")._jdf.queryExecution().executedPlan() for view in views
    }
    assert {view: Plan(plan.toString()).shuffles for view, plan in plans.items()} == VIEWS


def _shuffles_of_run(project: Project, half: int) -> Shuffles:
    for source_format in SOURCE_FORMATS:
        messages = samples(source_format)[half::2]
        project.land(
            source_format,
            [Landed(m.topic, m.offset, m.value, m.key, m.partition) for m in messages],
        )
    written = run_and_watch(project).items()
    return {table: plan.shuffles for table, plan in written if not table.startswith("seeds.")}
