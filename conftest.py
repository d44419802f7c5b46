"""Fixtures that all Python tests share, also those of the adapter: one Spark session a process."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from own_session import SMALL, spark, spark_home
from xdist.scheduler import LoadScopeScheduling

from cdc_marts.landing import kafka

__all__ = ["spark", "spark_home"]  # fixtures, which pytest finds by their names

HISTORIES = "tests/python/histories/"
#: They start first. Otherwise, one worker would wait at the end for another.
LONGEST = (
    "tests/python/oracle/",
    HISTORIES,
    "tests/python/end_to_end/test_order.py",
    "tests/python/end_to_end/test_unit_tests.py",
    "tests/python/data_tests/test_data_tests_fail_on_bad_data.py",
    "tests/python/project/test_landing_readers.py",
)
#: The plans of a whole run, which tests of costs read.
KEPT_PLANS = {"spark.sql.ui.retainedExecutions": "1000"}
PROFILES = Path(__file__).parent / "profiles" / "profiles.yml"


@pytest.fixture(scope="session")
def spark_target(spark_home: Path) -> dict[str, Any]:
    """Target `local` of the project, small, with a home of its own, and with all jars."""
    profiles = jinja2.Template(PROFILES.read_text()).render(
        env_var=lambda name, default=None: os.environ.get(name, default)
    )
    target = copy.deepcopy(yaml.safe_load(profiles)["cdc_marts"]["outputs"]["local"])
    target.update(home=str(spark_home), threads=2)
    target["packages"] += kafka.PACKAGES
    target["conf"].update(SMALL | KEPT_PLANS)
    return target


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        ranks = (rank for rank, path in enumerate(LONGEST) if item.nodeid.startswith(path))
        return next(ranks, len(LONGEST))

    items.sort(key=rank)


class _BySharedFixtures(LoadScopeScheduling):
    """A worker takes a whole module or class, and all modules whose histories share their runs."""

    def _split_scope(self, nodeid: str) -> str:
        return HISTORIES if nodeid.startswith(HISTORIES) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    return _BySharedFixtures(config, log) if config.getvalue("dist") == "loadscope" else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What random tests drew, also where all of them passed: seeds repeat them."""
    drawn = {
        line
        for reports in terminalreporter.stats.values()
        for report in reports
        for title, text in getattr(report, "sections", ())
        if title in ("Captured stdout setup", "Captured stdout call")
        for line in text.splitlines()
        if line.startswith(("oracle: ", "engines: "))
    }
    for line in sorted(drawn):
        terminalreporter.write_line(line)
