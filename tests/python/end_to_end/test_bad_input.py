"""Bad messages of all formats in one run of the project: none stops it, none is lost."""

from __future__ import annotations

import pytest

from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.bad_input.messages import SEED, bad_messages
from tests.python.harness.project import Landed, Project

pytestmark = pytest.mark.thorough

TOPIC = "bad input"
#: Every fourth message goes through the whole project; the parsers' own test reads all.
SHARE = 4


@pytest.fixture(scope="module")
def landed(project: Project) -> dict[str, int]:
    """Format -> how many bad messages of it were landed, before a run of the project."""
    counts = {}
    for source_format in SOURCE_FORMATS:
        messages = bad_messages(source_format)[::SHARE]
        project.land(
            source_format,
            [Landed(TOPIC, offset, bad.value) for offset, bad in enumerate(messages)],
        )
        counts[source_format] = len(messages)
    print(f"{sum(counts.values()):,} bad messages, BAD_INPUT_SEED={SEED}")
    project.dbt("run")
    return counts


def test_the_ledger_accounts_for_every_message(project: Project, landed: dict[str, int]) -> None:
    rows = project.rows(
        "select source_format, landed, `change` + update_before + ddl + `transaction` + heartbeat"
        f" + tombstone + rejected as counted from marts.message_ledger where topic = '{TOPIC}'"
    )
    assert {row["source_format"]: (row["landed"], row["counted"]) for row in rows} == {
        source_format: (count, count) for source_format, count in landed.items()
    }


def test_the_quarantine_holds_what_must_be_rejected_and_nothing_that_must_be_read(
    project: Project,
    landed: dict[str, int],
) -> None:
    for source_format in landed:
        rows = project.rows(
            f"select offset, value from marts.quarantined_messages where topic = '{TOPIC}'"
            f" and source_format = '{source_format}'"
        )
        quarantined = {row["offset"]: row["value"] for row in rows}
        assert len(rows) == len(quarantined)
        for offset, bad in enumerate(bad_messages(source_format)[::SHARE]):
            if bad.is_valid is not None:
                assert (offset not in quarantined) is bad.is_valid, bad.what
            assert quarantined.get(offset, bad.value) == bad.value
