"""A rebuild gives the marts that the runs gave."""

from __future__ import annotations

import pytest

from tests.python.histories.marts import ORDERED_BY, Row, Stages

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("mart", ORDERED_BY)
def test_a_rebuild_gives_the_same(stages: Stages, mart: str) -> None:
    assert _without_landing(stages.rebuilt.rows[mart]) == _without_landing(stages.last.rows[mart])


def _without_landing(rows: list[Row]) -> list[str]:
    """Runs and a rebuild may take the time from different copies of a redelivery."""
    return sorted(str({**row, "landed_at": None}) for row in rows)
