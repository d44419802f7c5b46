"""`--empty`, which projects use in CI, builds every model without its rows."""

from __future__ import annotations

import json

import pytest

from tests.python.harness.project import Landed, Project, content
from tests.python.samples.files import samples

pytestmark = pytest.mark.thorough

SOURCE_FORMAT = "canal_json"
MARTS = ("change_events", "latest_state", "row_history", "message_ledger")
WRITTEN_ANEW = ("int_lost_columns", "int_missing_columns")


def test_what_an_empty_run_leaves_unread_comes_with_the_next_one(project: Project) -> None:
    messages = samples(SOURCE_FORMAT)
    landed = [Landed(f"empty.{m.topic}", m.offset, m.value, m.key, m.partition) for m in messages]
    project.land(SOURCE_FORMAT, landed)
    project.dbt("run", "--empty")
    assert not any(_counts(project).values())

    project.dbt("run")
    assert all(_counts(project).values())
    ledger = project.spark.table("marts.message_ledger").selectExpr("sum(landed)").first()
    assert ledger is not None and ledger[0] == len(messages)


def test_an_empty_run_leaves_tables_with_rows_as_they_are(project: Project) -> None:
    """Also those that a run writes anew."""
    # The samples, or the second insert, show columns that are lost or missing.
    project.land(SOURCE_FORMAT, [_insert(0, id="1", v="a", body="x"), _insert(1, id="2", v="b")])
    project.dbt("run")
    before = _rows(project)
    assert all(before.values())
    snapshots = _snapshots(project)
    project.dbt("run", "--empty")
    assert _rows(project) == before
    assert _snapshots(project) == snapshots


def _insert(offset: int, **row: str) -> Landed:
    message = {
        "type": "INSERT",
        "database": "shop",
        "table": "empty_run",
        "isDdl": False,
        "pkNames": ["id"],
        "mysqlType": dict.fromkeys(row, "varchar(20)"),
        "data": [row],
        "es": 1_760_000_000_000 + offset,
        "ts": 1_760_000_000_001 + offset,
    }
    return Landed("empty_run", offset, json.dumps(message).encode())


def _rows(project: Project) -> dict[str, list[str]]:
    return {model: content(project.spark, f"intermediate.{model}") for model in WRITTEN_ANEW}


def _snapshots(project: Project) -> dict[str, int]:
    return {
        model: project.spark.table(f"intermediate.{model}.snapshots").count()
        for model in (*WRITTEN_ANEW, "int_row_state")
    }


def _counts(project: Project) -> dict[str, int]:
    return {mart: project.spark.table(f"marts.{mart}").count() for mart in MARTS}
