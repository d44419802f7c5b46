"""Upkeep leaves few files and snapshots, and the runs that follow go on as if it had not been."""

from __future__ import annotations

import re

import pytest
from dbt.adapters.spark_session.catalog import tables_of

from cdc_marts.relations import OWN
from tests.python.harness.commands import run_command
from tests.python.harness.project import Landed, Project, content
from tests.python.samples.files import samples

RUNS = 5
MARTS = ("change_events", "latest_state", "row_history", "message_ledger")
#: Tables that get a commit in every run.
GROWING = ("landing.canal_json", "staging.stg_canal_json", "intermediate.int_row_state")

pytestmark = [pytest.mark.usefixtures("command_line"), pytest.mark.long]


def test_runs_go_on_after_maintenance(project: Project) -> None:
    messages = [
        Landed(m.topic, m.offset, m.value, m.key, m.partition) for m in samples("canal_json")
    ]
    for run in range(RUNS):
        project.land("canal_json", messages[run :: RUNS + 1])
        project.dbt("run")
    marts = {mart: content(project.spark, f"marts.{mart}") for mart in MARTS}
    commits = {table: _count(project, table, "snapshots") for table in GROWING}
    files = {table: _count(project, table, "files") for table in GROWING}

    for _ in range(2):
        result = run_command("maintain", "--keep-days", "0")
        assert result.exit_code == 0, result.output

    assert "staging.stg_canal_json" in result.output
    assert re.search(r"^all tables +files .+, snapshots .+, size ", result.output, re.MULTILINE)
    for table in GROWING:
        assert _count(project, table, "snapshots") < commits[table], table
        assert _count(project, table, "files") <= files[table], table
    assert _count(project, "landing.canal_json", "files") < files["landing.canal_json"]
    project.dbt("run")
    assert {mart: content(project.spark, f"marts.{mart}") for mart in MARTS} == marts
    project.land("canal_json", messages[RUNS :: RUNS + 1])
    project.dbt("run")
    after_runs = {mart: content(project.spark, f"marts.{mart}") for mart in MARTS}
    assert len(after_runs["change_events"]) > len(marts["change_events"])
    project.dbt("run", "--full-refresh")
    for mart in MARTS:
        assert content(project.spark, f"marts.{mart}") == after_runs[mart], mart


def test_a_target_without_tables_says_so(project: Project) -> None:
    for table in tables_of(project.spark, OWN.schemas):
        project.spark.sql(f"drop table {table} purge")

    result = run_command("maintain")

    assert result.exit_code == 0, result.output
    assert result.output == "The target local has no tables yet.\n"


def _count(project: Project, table: str, what: str) -> int:
    return project.spark.table(f"{table}.{what}").count()
