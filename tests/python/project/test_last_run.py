"""The last run is found by what dbt left of it, where that is of a run on the same target."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from cdc_marts.project import Target
from cdc_marts.status import Run, last_run_of, span

ENDED_AT = dt.datetime(2026, 1, 1, 12, tzinfo=dt.timezone.utc)


def leave(folder: Path, statuses: dict[str, str], **arguments: Any) -> Path:
    left = {
        "metadata": {"generated_at": "2026-01-01T12:00:00.000000Z"},
        "elapsed_time": 60.0,
        "args": {"which": "build", **arguments},
        "results": [
            {"unique_id": f"model.cdc_marts.{name}", "status": status}
            for name, status in statuses.items()
        ],
    }
    (folder / "run_results.json").write_text(json.dumps(left), "utf-8")
    return folder


def test_a_run_names_what_failed_in_it(tmp_path: Path) -> None:
    leave(tmp_path, {"change_events": "success", "shop": "error", "later": "skipped"}, target="a")
    started_at = ENDED_AT - dt.timedelta(minutes=1)
    assert last_run_of(tmp_path, "a") == Run("dbt build", started_at, ENDED_AT, ("shop",))


def test_a_run_that_named_no_target_was_on_the_one_of_the_profile(tmp_path: Path) -> None:
    leave(tmp_path, {"change_events": "success"})
    assert last_run_of(tmp_path, "demo", "demo") is not None
    assert last_run_of(tmp_path, "local", "demo") is None


def test_the_target_of_commands_that_name_none_is_that_of_the_profile(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("profile: shop", "utf-8")
    target = Target("local", tmp_path, tmp_path)
    assert target.default_name is None
    (tmp_path / "profiles.yml").write_text("shop: {target: demo}", "utf-8")
    assert target.default_name == "demo"


@pytest.mark.parametrize("arguments", [{"target": "b"}, {"target": "a", "which": "docs"}])
def test_another_target_or_command_is_no_run(tmp_path: Path, arguments: dict[str, str]) -> None:
    assert last_run_of(leave(tmp_path, {}, **arguments), "a") is None


def test_no_results_or_half_a_file_of_them_is_no_run(tmp_path: Path) -> None:
    assert last_run_of(tmp_path, "a") is None
    (tmp_path / "run_results.json").write_text('{"metadata": {', "utf-8")
    assert last_run_of(tmp_path, "a") is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "0s"), (59, "59s"), (600, "10m"), (7_500, "2h 5m"), (86_401, "1d"), (90_000, "1d 1h")],
)
def test_a_span_is_shown_in_its_two_largest_units(seconds: int, shown: str) -> None:
    assert span(dt.timedelta(seconds=seconds)) == shown
