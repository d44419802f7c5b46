"""A published mart that runs when messages are staged, and the fold has not read them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.python.harness.project import Project
from tests.python.published.orders import change, statement

pytestmark = pytest.mark.thorough

MARTS = ("ddl_events", "source_tables")
VARS = ("--vars", json.dumps({"published_marts": MARTS}))
PUBLISHED = tuple(f"published_{mart}" for mart in MARTS)


def test_a_statement_that_is_resolved_later_is_published_as_resolved(project: Project) -> None:
    project.land("canal_json", [change(0, "INSERT", {"id": "1", "body": "x"})])
    _run(project, *(f"+{model}" for model in PUBLISHED))
    project.land("canal_json", [statement(1, "alter table orders drop column body")])
    _run(project, "+int_records")
    _run(project, *PUBLISHED)
    assert _published(project) == _of_marts(project)
    _run(project, *(f"+{model}" for model in PUBLISHED))
    of_marts = _of_marts(project)
    assert of_marts["applied"] == [[["body"]]]
    assert of_marts["columns"] == [["id"]]
    assert _published(project) == of_marts


def _run(project: Project, *models: str) -> None:
    project.dbt("run", "--select", *models, *VARS)


def _published(project: Project) -> dict[str, list[Any]]:
    """As `_of_marts`; other engines read the changes of a statement as JSON text."""
    changes = "array<struct<column_names: array<string>>>"
    return {
        "applied": _values(
            project, "ddl_events", f"from_json(applied_changes, '{changes}').column_names"
        ),
        "columns": _values(project, "source_tables", "map_keys(column_types)"),
    }


def _of_marts(project: Project) -> dict[str, list[Any]]:
    """The columns that statements dropped, and those that tables have."""
    return {
        "applied": _values(project, "ddl_events", "applied_changes.column_names", "marts"),
        "columns": _values(project, "source_tables", "map_keys(column_types)", "marts"),
    }


def _values(project: Project, mart: str, value: str, schema: str = "published") -> list[Any]:
    return [row["v"] for row in project.rows(f"select {value} as v from {schema}.{mart}")]
