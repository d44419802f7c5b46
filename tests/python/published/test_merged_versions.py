"""Published `row_history`, if versions that equal the previous version are left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.python.harness.project import Landed, Project

pytestmark = pytest.mark.thorough

VARS = (
    "--vars",
    json.dumps({"published_marts": ["row_history"], "merge_equal_versions": True}),
)
START = 1_709_280_000_000
ROW = {"id": "1", "note": None}


@pytest.fixture
def project(spark: SparkSession) -> Iterator[Project]:
    project = Project(spark)
    project.empty()
    yield project
    project.drop_all()


def test_a_version_loses_a_column_that_it_had_lost_before(project: Project) -> None:
    """Its last event was after the first loss, and before the second one."""
    messages = [
        _row("INSERT"),
        _statement("alter table orders drop column note"),
        _statement("alter table orders add column note varchar(20)"),
        _row("INIT"),
        _statement("alter table orders drop column note"),
    ]
    landed = [_landed(offset, message) for offset, message in enumerate(messages)]
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


def _row(op: str) -> dict[str, Any]:
    return {"type": op, "pkNames": ["id"], "mysqlType": dict.fromkeys(ROW, "text"), "data": [ROW]}


def _statement(text: str) -> dict[str, Any]:
    return {"type": "ALTER", "isDdl": True, "sql": text}


def _landed(offset: int, message: dict[str, Any]) -> Landed:
    time = START + offset * 1000
    whole = {"database": "shop", "table": "orders", "es": time, "ts": time, **message}
    return Landed("shop", offset, json.dumps(whole).encode())
