"""End-to-end tests run the project itself, on the target `local`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.python.harness.commands import commands_use
from tests.python.harness.executors import without_python
from tests.python.harness.project import Project


@pytest.fixture(scope="module")
def project(spark: SparkSession) -> Project:
    """The project with its landing tables, nothing landed: no module sees another's tables."""
    project = Project(spark)
    project.empty()
    return project


@pytest.fixture(scope="module")
def command_line(spark: SparkSession) -> Iterator[None]:
    """`cdc-marts` in the session that the project has here.

    While a command runs, executors have no Python.
    """
    with commands_use(spark, lambda: without_python(spark)):
        yield
