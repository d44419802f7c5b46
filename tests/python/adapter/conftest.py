"""dbt's own fixtures for adapter tests (`project`, `models`, `seeds`, …), over the shared session."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.tests.fixtures.project import *  # noqa: F403  (pytest finds the fixtures by their names)


@pytest.fixture(scope="class")
def dbt_profile_target(spark: SparkSession, spark_target: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(spark_target)


@pytest.fixture(scope="class")
def logs_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """dbt's logs go with the test's other files, not into the project."""
    folder: Path = tmp_path_factory.mktemp("logs")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DBT_LOG_PATH", str(folder))
        yield str(folder)
