"""dbt's own fixtures for tests of adapters (`project`, `models`, …), over the shared session."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import own_session
import pytest
import yaml
from dbt.tests.fixtures.project import *  # noqa: F403  (pytest finds fixtures by their names)
from pyspark.sql import SparkSession

#: The tests run over Iceberg tables, or in a process of their own over plain ones.
FILE_FORMAT = os.environ.get("SPARK_SESSION_TESTS", "iceberg")


def pytest_configure(config: pytest.Config) -> None:
    if config.rootpath == Path(__file__).parents[1]:
        config.pluginmanager.register(own_session)


@pytest.fixture(scope="session")
def spark_target(spark_target: dict[str, Any]) -> dict[str, Any]:
    """The session's target, or one without Iceberg: Spark's own catalog, in a Hive metastore."""
    if FILE_FORMAT == "iceberg":
        return spark_target
    of_iceberg = ("spark.sql.catalog.", "spark.sql.extensions", "spark.sql.defaultCatalog")
    conf = {k: v for k, v in spark_target["conf"].items() if not k.startswith(of_iceberg)}
    metastore = "jdbc:derby:;databaseName=${home}/metastore;create=true"
    conf |= {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
    }
    return {**spark_target, "conf": conf, "packages": []}


@pytest.fixture(scope="class")
def dbt_profile_target(spark: SparkSession, spark_target: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(spark_target)


@pytest.fixture(scope="class")
def dbt_project_yml(project_root: Path, project_config_update: dict[str, Any]) -> dict[str, Any]:
    """A test's project; its tables are of one format."""
    settings = {
        "name": "test",
        "profile": "test",
        "flags": {"send_anonymous_usage_stats": False},
        **project_config_update,
    }
    for kind in ("models", "seeds", "snapshots"):
        settings[kind] = {"+file_format": FILE_FORMAT, **settings.get(kind, {})}
    Path(project_root, "dbt_project.yml").write_text(yaml.safe_dump(settings))
    return settings


@pytest.fixture(scope="class")
def logs_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """dbt's logs go with the test's other files, not into our project."""
    folder = str(tmp_path_factory.mktemp("logs"))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DBT_LOG_PATH", folder)
        yield folder
