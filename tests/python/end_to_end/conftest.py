"""End-to-end tests run the project itself, on the target `local`."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.python.end_to_end.project import Project


@pytest.fixture(scope="module")
def project(spark: SparkSession) -> Project:
    """The project with its landing tables, nothing landed: no module sees another's tables."""
    project = Project(spark)
    project.empty()
    return project
