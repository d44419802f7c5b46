"""The ledger balances between runs too: a message that no run has read yet only waits."""

from __future__ import annotations

import pytest

from tests.python.harness.project import Landed, Project
from tests.python.samples.files import samples

pytestmark = pytest.mark.thorough

RUN = ("run", "--select", "+message_ledger")
CANAL, DATAWORKS = "canal_json", "dataworks_json"


class TestWaitingMessages:
    """One after the other."""

    def test_messages_that_landed_after_a_run_wait_for_the_next_one(self, project: Project) -> None:
        _land(project, CANAL, "shop", 0, 1)
        _land(project, CANAL, "shop", 2, 3)
        project.dbt(*RUN)
        _land(project, CANAL, "shop", 4, 5)
        _land(project, CANAL, "new", 0)
        _land(project, DATAWORKS, "halves", 0)

        assert _ledger(project) == {"shop": (4, 2), "new": (0, 1), "halves": (0, 1)}
        assert _unbalanced(project) == []

    def test_a_message_that_lands_again_does_not_wait(self, project: Project) -> None:
        _land(project, CANAL, "shop", 0, 4)

        assert _ledger(project)["shop"] == (4, 2)
        assert _unbalanced(project) == []

    def test_the_next_run_reads_what_waited(self, project: Project) -> None:
        project.dbt(*RUN)

        assert _ledger(project) == {"shop": (6, 0), "new": (1, 0), "halves": (1, 0)}
        assert _unbalanced(project) == []

    def test_what_waits_is_known_without_a_scan_of_staging(self, project: Project) -> None:
        [row] = project.rows("explain select * from intermediate.int_landed_messages")
        assert f"BatchScan cdc.landing.{CANAL}" in row["plan"]
        assert "cdc.staging." not in row["plan"]

    def test_a_message_that_staging_has_lost_does_not_wait(self, project: Project) -> None:
        """One landed before others that were read, one together with others."""
        _land(project, CANAL, "lost before", 0)
        _land(project, CANAL, "lost together", 0, 1)
        project.dbt(*RUN)
        project.spark.sql(
            f"delete from staging.stg_{CANAL}"
            " where topic = 'lost before' or topic = 'lost together' and offset = 1"
        )

        assert _ledger(project)["lost before"] == (1, 0)
        assert _ledger(project)["lost together"] == (2, 0)
        assert _unbalanced(project) == ["lost before", "lost together"]


def _land(project: Project, source_format: str, topic: str, *offsets: int) -> None:
    """Land messages in one commit."""
    values = [message.value for message in samples(source_format)]
    project.land(source_format, [Landed(topic, offset, values[offset]) for offset in offsets])


def _ledger(project: Project) -> dict[str, tuple[int, int]]:
    """Topic -> how many messages landed before a run had read, and how many wait."""
    rows = project.rows("select topic, landed, waiting from marts.message_ledger")
    return {row["topic"]: (row["landed"], row["waiting"]) for row in rows}


def _unbalanced(project: Project) -> list[str]:
    """Return the topics that the data test finds."""
    found = project.found_by(["ledger_balances"])
    return sorted(row["topic"] for row in found["ledger_balances"])
