"""`cdc-marts run --every`: rounds, some of which fail, and the signal that ends them."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from pathlib import Path

import pytest
from filelock import FileLock

from cdc_marts.project.dbt_commands import DbtOutcome, outcome_of_dbt
from cdc_marts.project.target import Target
from cdc_marts.scaffold import DESCRIPTIONS
from tests.python.cluster.services import wait_until
from tests.python.harness.copied_project import copy_without_tables
from tests.python.harness.manifest import ROOT
from tests.python.harness.processes import Home
from tests.python.harness.project import Project

#: Seconds for a Spark start and a round on a machine with other work.
PATIENCE = 300
#: Few models, as most of the time goes into rounds, and the tests of these alone.
MODELS = "+stg_canal_json"
CAUTIOUS = {"DBT_INDIRECT_SELECTION": "cautious"}
#: A data test, and messages that it finds.
TEST = "no_messages_of_shop"
FINDS_MESSAGES = "select * from {{ ref('stg_canal_json') }} where topic = 'shop'"


@pytest.mark.thorough
def test_the_outcome_of_dbt_counts_its_nodes_without_hooks(project: Project) -> None:
    """A seed with its three data tests: there are events of both that they have ended."""
    command = ("build", "--select", "source_ops", "--indirect-selection", "cautious", "--quiet")
    progress: list[tuple[int, int]] = []

    outcome = outcome_of_dbt(
        command, Target.find("local", ROOT), lambda *ended: progress.append(ended)
    )

    assert outcome == DbtOutcome(Counter({"success": 1, "pass": 3}), {}, [])
    assert (len(progress), max(progress)) == (4, (4, 4))


@pytest.mark.long
def test_rounds_go_on_after_one_that_fails_until_a_signal_ends_them(tmp_path: Path) -> None:
    root = copy_without_tables(tmp_path / "project")
    # It describes no model.
    (root / DESCRIPTIONS).unlink()
    settings = root / "dbt_project.yml"
    work = tmp_path / "work"
    work.mkdir()
    home = Home(tmp_path / "home", work, **CAUTIOUS)
    data_test = root / "tests" / f"{TEST}.sql"
    data_test.write_text(FINDS_MESSAGES)
    log = tmp_path / "rounds.txt"
    message = {"database": "shop", "table": "orders", "type": "INSERT", "isDdl": False}
    path = tmp_path / "messages.jsonl"
    path.write_text(
        json.dumps({"topic": "shop", "partition": 0, "offset": 0, "value": json.dumps(message)})
    )

    def rounds(outcome: str) -> int:
        return log.read_text("utf-8").count(f" {outcome}: ")

    report = tmp_path / "report.html"
    options = ("--select", MODELS, "--report", str(report), "--project-dir", str(root))
    rounds_process = home.run_rounds(log, "--every", "1s", *options)
    try:
        wait_until(lambda: rounds("succeeded") >= 1, "the first round ends", PATIENCE)
        # Another process lands between two rounds: the catalog is free there.
        home.finish(home.land_files("canal_json", path))
        wait_until(lambda: rounds("failed") >= 1, "a data test fails", PATIENCE)
        wait_until(lambda: TEST in report.read_text("utf-8"), "the page names it", PATIENCE)
        data_test.unlink()
        succeeded = rounds("succeeded")
        wait_until(lambda: rounds("succeeded") > succeeded, "a round succeeds", PATIENCE)

        failed = rounds("failed")
        good = settings.read_text("utf-8")
        settings.write_text(good.replace("tables: {}", "tables: {x: {source_format: nope}}"))
        wait_until(lambda: rounds("failed") > failed, "a round fails", PATIENCE)
        settings.write_text(good)
        succeeded = rounds("succeeded")
        wait_until(lambda: rounds("succeeded") > succeeded, "a round succeeds", PATIENCE)

        rounds_process.send_signal(signal.SIGTERM)
        assert rounds_process.wait(120) == 0, log.read_text()
    finally:
        home.stop()

    text = log.read_text("utf-8")
    assert re.search(r"round 1 succeeded: dbt build: 1 pass, 2 success in [\d.]+ s\n", text)
    assert re.search(
        r"failed: dbt build: 1 fail, 2 success in [\d.]+ s\n  Nodes of dbt failed", text
    )
    assert f"  {TEST}: Got 1 result, configured to fail if != 0\n" in text
    assert "Stopping after this round." in text
    assert "1 round failed in a row. The next one begins in" in text
    assert "Typed mart `x`: it lacks `table_id`" in text
    # Of the last round, which follows one that failed.
    page = report.read_text("utf-8")
    assert "<tr><td>shop</td>" in re.sub(r"\s+", "", page)
    assert "dbt build" in page
    assert TEST not in page
    with FileLock(tmp_path / "home" / "local" / "lock").acquire(timeout=0):
        pass
    assert len(home.content("staging.stg_canal_json")["staging.stg_canal_json"]) == 1
