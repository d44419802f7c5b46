"""Messages that arrive in several runs give the marts that one run over all of them gives."""

from __future__ import annotations

from typing import Any

import pytest

from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.harness.project import Landed, Project, content
from tests.python.samples.files import samples

pytestmark = pytest.mark.long

RUNS = 3
MARTS = ("change_events", "latest_state", "row_history", "message_ledger", "quarantined_messages")
#: Columns that say when something landed, or where it stands in a file, not what it contains.
NOT_COMPARED = {"landed_at"}


@pytest.fixture(scope="module")
def after_runs(project: Project) -> dict[str, list[str]]:
    """The marts after the samples of all formats came in three runs, the later ones repeating."""
    for run in range(RUNS):
        for source_format in SOURCE_FORMATS:
            messages = _messages(source_format)
            size = -(-len(messages) // RUNS)
            # each run brings its share, and the last messages of the one before again
            share = messages[max(0, run * size - 3) : (run + 1) * size]
            project.land(source_format, share)
        project.dbt("run")
    return _marts(project)


def test_a_rebuild_gives_the_same_marts(project: Project, after_runs: dict[str, list[str]]) -> None:
    project.dbt("run", "--full-refresh")
    rebuilt = _marts(project)
    for mart in MARTS:
        assert rebuilt[mart] == after_runs[mart], mart


def test_nothing_new_writes_nothing(project: Project, after_runs: dict[str, list[str]]) -> None:
    written = _snapshots(project)
    project.dbt("run")
    assert _snapshots(project) == written
    assert _marts(project) == after_runs


def _messages(source_format: str) -> list[Landed]:
    return [
        Landed(f"runs.{m.topic}", m.offset, m.value, m.key, m.partition)
        for m in samples(source_format)
    ]


def _marts(project: Project) -> dict[str, list[str]]:
    """Mart -> its rows as sorted JSON texts, of the messages that this module landed."""
    marts = {mart: content(project.spark, f"marts.{mart}", without=NOT_COMPARED) for mart in MARTS}
    assert all(marts.values())
    return marts


def _snapshots(project: Project) -> dict[str, Any]:
    tables = [f"staging.stg_{f}" for f in SOURCE_FORMATS]
    tables += [
        f"intermediate.{table}"
        for table in (
            "int_exceptional_records",
            "int_row_state",
            "int_keyless_rows",
            "int_filled_rows",
            "int_table_schemas",
        )
    ]
    return {
        table: project.rows(f"select max(committed_at) as at from {table}.snapshots")
        for table in tables
    }
