"""`--empty`, which projects use in CI, builds every model without its rows."""

from __future__ import annotations

import pytest

from tests.python.harness.project import Landed, Project
from tests.python.samples.files import samples

pytestmark = pytest.mark.thorough

SOURCE_FORMAT = "canal_json"
MARTS = ("change_events", "latest_state", "row_history", "message_ledger")


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


def _counts(project: Project) -> dict[str, int]:
    return {mart: project.spark.table(f"marts.{mart}").count() for mart in MARTS}
