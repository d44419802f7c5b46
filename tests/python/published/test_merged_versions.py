"""Published `row_history`, if versions that equal the previous version are left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.python.harness.project import Project
from tests.python.published.orders import change, statement

pytestmark = pytest.mark.thorough

VARS = (
    "--vars",
    json.dumps({"published_marts": ["row_history"], "merge_equal_versions": True}),
)
ROW = {"id": "1", "note": None}


def test_a_version_loses_a_column_that_it_had_lost_before(project: Project) -> None:
    """Its last event was after the first loss, and before the second one."""
    landed = [
        change(0, "INSERT", ROW),
        statement(1, "alter table orders drop column note"),
        statement(2, "alter table orders add column note varchar(20)"),
        change(3, "INIT", ROW),
        statement(4, "alter table orders drop column note"),
    ]
    project.land("canal_json", landed[:-1])
    _run(project)
    assert _rows(project, "published") == _rows(project, "marts") == [ROW]
    project.land("canal_json", landed[-1:])
    _run(project)
    assert _rows(project, "published") == _rows(project, "marts") == [{"id": "1"}]


def _run(project: Project) -> None:
    project.dbt("run", "--select", "+published_row_history", *VARS)


def _rows(project: Project, schema: str) -> list[Any]:
    row = "`row`" if schema == "published" else "to_json(`row`)"
    return [
        json.loads(version["r"])
        for version in project.rows(f"select {row} as r from {schema}.row_history")
    ]
