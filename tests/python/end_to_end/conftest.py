"""End-to-end tests run the project itself, on the target `local`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts import project as cli_project
from tests.python.end_to_end.project import Project
from tests.python.executors import without_python


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

    @contextmanager
    def session(target: str, **_: Any) -> Iterator[SparkSession]:
        with without_python(spark):
            yield spark

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli_project, "spark_session", session)
        yield
