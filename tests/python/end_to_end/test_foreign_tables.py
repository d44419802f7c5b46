"""Upkeep sees to the tables that the project builds, whatever stands beside them."""

from __future__ import annotations

import pytest

from tests.python.harness.commands import run_command
from tests.python.harness.project import Landed, Project

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("command_line")]

FOREIGN = "marts.somebodys_report"
#: What a model built that is no longer in the project; it had read staging.
LEFT_OVER = "marts.shop_orders_of_old"
COMMITS = 3


def test_maintenance_leaves_other_tables_alone(project: Project) -> None:
    for offset in range(COMMITS):
        project.land("canal_json", [Landed("foreign", offset, b"[]")])
        project.dbt("run", "--select", "base_canal_json stg_canal_json")
    read_up_to = _snapshots(project, "staging.stg_canal_json")[0]
    _fill(project, FOREIGN)
    _fill(project, LEFT_OVER, note=("read-up-to.staging.stg_canal_json", read_up_to))
    before = {table: _snapshots(project, table) for table in (FOREIGN, LEFT_OVER)}

    result = run_command("maintain", "--keep-days", "0")

    assert result.exit_code == 0, result.output
    assert {table: _snapshots(project, table) for table in before} == before
    assert f"no model of this project builds them: {LEFT_OVER}, {FOREIGN}" in result.output
    assert "staging.stg_canal_json  " in result.output
    # Nor does what another table has read keep a snapshot here.
    assert read_up_to not in _snapshots(project, "staging.stg_canal_json")


def _fill(project: Project, table: str, note: tuple[str, int] | None = None) -> None:
    """A table of several commits, the last of them with a note in its summary."""
    project.spark.sql("create schema if not exists marts")
    project.spark.sql(f"create or replace table {table} (id int) using iceberg")
    for number in range(COMMITS):
        writer = project.spark.range(1).selectExpr(f"{number} as id").writeTo(table)
        if note is not None:
            writer = writer.option(f"snapshot-property.{note[0]}", str(note[1]))
        writer.append()


def _snapshots(project: Project, table: str) -> list[int]:
    rows = project.rows(f"select snapshot_id from {table}.snapshots order by committed_at")
    return [row["snapshot_id"] for row in rows]
