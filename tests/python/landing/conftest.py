"""The commands `cdc-marts land …` in the shared session, over an empty catalog."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from dbt.adapters.spark_session.catalog import activate
from pyspark.sql import SparkSession

from tests.python.harness.commands import commands_use, no_session


@pytest.fixture
def catalog(spark: SparkSession, tmp_path: Path) -> Iterator[SparkSession]:
    """The shared session over an empty catalog."""
    # Other modules run dbt, whose threads make a session of their own the active one.
    activate(spark)
    catalog_before = spark.catalog.currentCatalog()
    name = f"empty_{uuid4().hex}"
    settings = f"spark.sql.catalog.{name}"
    spark.conf.set(settings, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"{settings}.type", "hadoop")
    spark.conf.set(f"{settings}.warehouse", str(tmp_path / "warehouse"))
    spark.catalog.setCurrentCatalog(name)
    yield spark
    spark.catalog.setCurrentCatalog(catalog_before)


@pytest.fixture
def shared_session(catalog: SparkSession) -> Iterator[SparkSession]:
    """The session that commands get, whatever target they name."""
    with commands_use(catalog):
        yield catalog


@pytest.fixture
def without_spark() -> Iterator[None]:
    """Starting Spark fails the test."""
    with no_session():
        yield
