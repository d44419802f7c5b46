"""Typed marts in a dbt project of their own, over tables that a test fills as the fold would."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.python.typed.folded import Folded


@pytest.fixture(scope="module")
def folded(
    spark: SparkSession, spark_target: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Folded]:
    """What the fold leaves, empty at first; a module's tests share it, each with its own tables."""
    folded = Folded(spark, tmp_path_factory.mktemp("typed"), spark_target)
    yield folded
    folded.drop()
