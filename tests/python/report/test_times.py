"""`status` and `report` answer in seconds, beyond Spark's start, on the demo."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.python.harness.manifest import ROOT
from tests.python.harness.processes import finished, program

#: Seconds at most.
STATUS, REPORT = 10, 30

pytestmark = pytest.mark.long

Command = Callable[..., float]


@pytest.fixture(scope="module")
def seconds(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs a command on a demo that was built, and gives how long it took."""
    home = tmp_path_factory.mktemp("home")

    def run(name: str, *arguments: str) -> float:
        began = time.monotonic()
        options = (*arguments, "--target", "demo")
        finished(program(name), *options, cwd=ROOT, CDC_MARTS_HOME=str(home))
        return time.monotonic() - began

    run("dbt", "build", "--quiet", "--exclude-resource-type", "test", "unit_test")
    return run


def test_status_and_report_answer_in_seconds(seconds: Command, tmp_path: Path) -> None:
    start = seconds("cdc-marts", "sql", "select 1")
    status = seconds("cdc-marts", "status") - start
    report = seconds("cdc-marts", "report", "--output", str(tmp_path / "report.html")) - start

    print(f"Spark's start: {start:.1f} s; beyond it status {status:.1f} s, report {report:.1f} s")
    assert status <= STATUS
    assert report <= REPORT
