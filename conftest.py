"""Fixtures that all Python tests share, also those of the adapter: one Spark session a process."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from dbt.adapters.spark_session import SparkSessionCredentials
from dbt.adapters.spark_session.session import close_session
from pyspark.sql import SparkSession
from xdist.scheduler import LoadScopeScheduling

from cdc_marts.landing import kafka

HISTORIES = "tests/python/histories/"
PROFILES = Path(__file__).parent / "profiles" / "profiles.yml"

#: For many small jobs: one task each, queries that run as they are planned, without being
#: compiled or planned anew behind each stage, and Java code that is compiled quickly rather
#: than well.
SMALL = {
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn512m -XX:ReservedCodeCacheSize=256m"
    ),
    "spark.buffer.pageSize": "1m",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home folder of this process's catalog and warehouse; every xdist worker has its own.

    Its name is of the kind that folders of people have.
    """
    return tmp_path_factory.mktemp("our home, it's")


@pytest.fixture(scope="session")
def spark_target(spark_home: Path) -> dict[str, Any]:
    """Target `local` of the project, small, with a home of its own, and with all jars."""
    profiles = jinja2.Template(PROFILES.read_text()).render(
        env_var=lambda name, default=None: os.environ.get(name, default)
    )
    target = copy.deepcopy(yaml.safe_load(profiles)["cdc_marts"]["outputs"]["local"])
    target.update(home=str(spark_home), threads=2)
    target["packages"] += kafka.PACKAGES
    target["conf"].update(SMALL)
    return target


@pytest.fixture(scope="session")
def spark(spark_target: dict[str, Any], spark_home: Path) -> Iterator[SparkSession]:
    """The session that dbt's threads share too: the `local` target's, with Iceberg and Avro."""
    folder = Path.cwd()
    jvm_folder = spark_home / "cwd"
    jvm_folder.mkdir()
    # What the JVM leaves where it was started is seen, and is not left in the project.
    os.chdir(jvm_folder)
    try:
        session = SparkSessionCredentials.from_dict({"database": None, **spark_target}).session()
    finally:
        os.chdir(folder)
    yield session
    close_session()


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
