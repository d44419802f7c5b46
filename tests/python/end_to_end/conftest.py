"""End-to-end tests run the project itself, on the target `local`."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.python.end_to_end.project import Project


@pytest.fixture(scope="session")
def project(spark: SparkSession) -> Project:
    """The project with its landing tables, nothing landed."""
    project = Project(spark)
    project.dbt("run-operation", "create_landing_tables")
    return project
