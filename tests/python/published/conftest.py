"""The project, empty before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.python.harness.project import Project


@pytest.fixture
def project(spark: SparkSession) -> Iterator[Project]:
    project = Project(spark)
    project.empty()
    yield project
    project.drop_all()
