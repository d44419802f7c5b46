"""A run fails in `marts.runs` by the same statuses of dbt as in Python."""

from __future__ import annotations

import re

from cdc_marts.run_history import FAILED_STATUSES
from tests.python.harness.manifest import ROOT


def test_the_failed_nodes_of_a_run_have_the_statuses_by_which_it_failed() -> None:
    query = (ROOT / "models/marts/operations/runs.sql").read_text("utf-8")
    [listed] = re.findall(r"node\.status\s+in \((.+?)\)", query)
    assert tuple(re.findall("'(.+?)'", listed)) == FAILED_STATUSES
