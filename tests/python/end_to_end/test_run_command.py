"""`cdc-marts run --every`: rounds, one of which fails, and the signal that ends them."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest
from filelock import FileLock

from cdc_marts.scaffold import DESCRIPTIONS
from tests.python.cluster.services import wait_until
from tests.python.commands import Home
from tests.python.end_to_end.copied_project import copy_without_tables

#: Seconds for a Spark start and a round on a machine with other work.
PATIENCE = 300
#: Few models, as most of the time goes into rounds.
MODELS = "+stg_canal_json"

pytestmark = pytest.mark.long


def test_rounds_go_on_after_one_that_fails_until_a_signal_ends_them(tmp_path: Path) -> None:
    root = copy_without_tables(tmp_path / "project")
    # It describes no model.
    (root / DESCRIPTIONS).unlink()
    settings = root / "dbt_project.yml"
    work = tmp_path / "work"
    work.mkdir()
    home = Home(tmp_path / "home", work)
    log = tmp_path / "rounds.txt"
    message = {"database": "shop", "table": "orders", "type": "INSERT", "isDdl": False}
    path = tmp_path / "messages.jsonl"
    path.write_text(
        json.dumps({"topic": "shop", "partition": 0, "offset": 0, "value": json.dumps(message)})
    )

    def rounds(outcome: str) -> int:
        return log.read_text("utf-8").count(f" {outcome}: ")

    report = tmp_path / "report.html"
    models = ("--no-tests", "--select", MODELS)
    rounds_process = home.run_rounds(
        log, "--every", "1s", *models, "--report", str(report), "--project-dir", str(root)
    )
    try:
        wait_until(lambda: rounds("succeeded") >= 1, "the first round ends", PATIENCE)
        # Another process lands between two rounds: the catalog is free there.
        home.finish(home.land_files("canal_json", path))

        good = settings.read_text("utf-8")
        settings.write_text(good.replace("tables: {}", "tables: {x: {source_format: nope}}"))
        wait_until(lambda: rounds("failed") >= 1, "a round fails", PATIENCE)
        settings.write_text(good)
        succeeded = rounds("succeeded")
        wait_until(lambda: rounds("succeeded") > succeeded, "a round succeeds", PATIENCE)

        rounds_process.send_signal(signal.SIGTERM)
        assert rounds_process.wait(120) == 0, log.read_text()
    finally:
        home.stop()

    text = log.read_text("utf-8")
    assert "Stopping after this round." in text
    assert "1 round failed in a row. The next one begins in" in text
    assert "Typed mart `x`: it lacks `table_id`" in text
    # Of the last round, which follows one that failed.
    page = report.read_text("utf-8")
    assert "<tr><td>shop</td>" in re.sub(r"\s+", "", page)
    assert "dbt run" in page
    with FileLock(tmp_path / "home" / "local" / "lock").acquire(timeout=0):
        pass
    assert len(home.content("staging.stg_canal_json")["staging.stg_canal_json"]) == 1
