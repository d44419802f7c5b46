"""What became of a run is kept, and a run goes on where it can't be."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any

import pytest

from cdc_marts.operations.maintenance import maintain
from cdc_marts.operations.status import Run
from cdc_marts.operations.status_gathering import last_run_of
from cdc_marts.project.inventory import Expiry
from cdc_marts.run_history import record
from tests.python.harness.project import Project

pytestmark = pytest.mark.long

TABLE = "landing.run_results"
STARTED_AT = dt.datetime(2026, 1, 1, 12, tzinfo=dt.timezone.utc)
LATER = STARTED_AT + dt.timedelta(minutes=10)
#: What ends a literal, a JSON text, a line, a page or a terminal's patience.
HOSTILE = 'it\'s "said" \\ ${x}\n\x1b[2J<script>\u674e\u96f7'


@pytest.fixture
def history(project: Project) -> Project:
    """The project without any run."""
    project.spark.sql(f"delete from {TABLE}")
    return project


def test_a_failed_run_names_what_failed_in_it(history: Project) -> None:
    results = [
        _result("change_events"),
        _result("shop", "error", message=HOSTILE),
        _result("ledger_balances", "fail", resource_type="test", failures=3),
        _result("later", "skipped"),
        _result("status", "no-op", resource_type="exposure"),
    ]
    record(history.spark, TABLE, _run("first"), results)

    [run] = history.rows(f"select * from {TABLE}")
    nodes = {node["node_name"]: node for node in run["nodes"]}
    last = last_run_of(history.spark, "local")
    assert (run["run_id"], run["outcome"], run["selected"]) == ("first", "failed", ["a+", HOSTILE])
    assert run["versions"].keys() == {"cdc_marts", "dbt", "spark"}
    assert list(nodes) == ["change_events", "shop", "ledger_balances", "later"]
    assert nodes["shop"]["message"] == HOSTILE
    assert nodes["change_events"]["rows_written"] == 7
    assert nodes["ledger_balances"]["failure_count"] == 3
    assert nodes["ledger_balances"]["materialized"] is None
    assert isinstance(last, Run)
    assert last.started_at == STARTED_AT
    assert last.failed == ("shop", "ledger_balances")


def test_tests_alone_are_no_run_that_reads_messages(history: Project) -> None:
    record(history.spark, TABLE, _run("tests", command="test"), [])
    assert last_run_of(history.spark, "local") is None


def test_the_last_run_is_that_of_the_target(history: Project) -> None:
    """Targets that share a landing schema share the history."""
    record(history.spark, TABLE, _run("ours"), [])
    elsewhere = _run("theirs", target_name="it's elsewhere", started_at=LATER)
    record(history.spark, TABLE, elsewhere, [_result("shop", "error")])

    ours, theirs = (last_run_of(history.spark, name) for name in ("local", "it's elsewhere"))

    assert ours is not None and (ours.started_at, ours.failed) == (STARTED_AT, ())
    assert theirs is not None and (theirs.started_at, theirs.failed) == (LATER, ("shop",))
    assert last_run_of(history.spark, "unknown") is None


def test_maintenance_deletes_runs_that_are_older_than_the_setting(history: Project) -> None:
    record(history.spark, TABLE, _run("old"), [])
    record(history.spark, TABLE, _run("new"), [])
    history.spark.sql(f"update {TABLE} set ended_at = started_at where run_id = 'old'")

    keep = {TABLE: Expiry(days=30, column="ended_at")}
    [upkeep] = maintain(history.spark, [TABLE], 5, keep)

    assert history.rows(f"select run_id from {TABLE}") == [{"run_id": "new"}]
    assert upkeep.before.size > upkeep.after.size > 0


def test_a_run_goes_on_and_warns_where_its_results_can_not_be_kept(project: Project) -> None:
    project.spark.sql(f"create or replace table {TABLE} (somebodys int) using iceberg")
    events: list[Any] = []
    try:
        project.dbt("seed", "--select", "source_ops", on_event=events.append)
    finally:
        project.spark.sql(f"drop table {TABLE} purge")

    [warning] = [event.info.msg for event in events if "results of this run" in event.info.msg]
    assert "are not in landing.run_results" in warning
    assert "lacks the columns command, ended_at" in warning


def _run(
    run_id: str,
    command: str = "run",
    target_name: str = "local",
    started_at: dt.datetime = STARTED_AT,
) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "command": command,
        "selected": ["a+", HOSTILE],
        "is_full_refresh": False,
        "target_name": target_name,
        "started_at": started_at,
    }


def _result(
    name: str,
    status: str = "success",
    message: str | None = "OK",
    resource_type: str = "model",
    failures: int | None = None,
) -> Any:
    node = SimpleNamespace(
        name=name,
        resource_type=resource_type,
        relation_name=f"marts.{name}",
        config=SimpleNamespace(materialized="incremental"),
    )
    return SimpleNamespace(
        node=node,
        status=status,
        message=message,
        failures=failures,
        execution_time=1.25,
        adapter_response={"rows_affected": 7} if status == "success" else {},
    )
