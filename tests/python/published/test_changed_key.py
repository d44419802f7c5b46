"""Published marts of a table that has lost its key, which is all of its columns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.python.harness.project import Project
from tests.python.published.orders import change

pytestmark = pytest.mark.thorough

MARTS = ("latest_state", "row_history")
VARS = ("--vars", json.dumps({"published_marts": MARTS}))
ROW = {"a": "1", "b": "x"}


def test_a_late_event_under_the_former_key_brings_a_row_back(project: Project) -> None:
    """The marts had no row under either key, because the delete landed first."""
    keyless = [change(1, "DELETE", ROW, key=None), change(2, "INSERT", ROW, key=None)]
    project.land("canal_json", keyless)
    _run(project)
    assert _keys(project, "published", "latest_state") == []
    project.land("canal_json", [change(0, "INSERT", ROW, key=["b", "a"], partition=1)])
    _run(project)
    assert _keys(project, "published", "latest_state") == ['{"a":"1","b":"x"}']
    for mart in MARTS:
        assert _keys(project, "published", mart) == _keys(project, "marts", mart)


def _run(project: Project) -> None:
    project.dbt("run", "--select", *(f"+published_{mart}" for mart in MARTS), *VARS)


def _keys(project: Project, schema: str, mart: str) -> list[Any]:
    keys = project.rows(f"select row_key as k from {schema}.{mart} order by k")
    return [row["k"] for row in keys]
