"""Rejects are new if the last run read their messages, and not if it wrote their rows anew."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from cdc_marts.operations.status_gathering import sequence_number_before

TABLE = "new_rejects.staging"


@pytest.fixture
def staging(spark: SparkSession) -> Iterator[SparkSession]:
    """A table with one row, made as dbt makes it."""
    spark.sql("create namespace new_rejects")
    spark.sql(f"create or replace table {TABLE} using iceberg as select 1 as id")
    yield spark
    spark.sql(f"drop table {TABLE} purge")
    spark.sql("drop namespace new_rejects")


def begun() -> dt.datetime:
    """When a run begins; snapshots from before are at least a millisecond older."""
    time.sleep(0.01)
    return dt.datetime.now(dt.timezone.utc)


def test_a_run_that_appends_adds_its_rows(staging: SparkSession) -> None:
    run = begun()
    assert sequence_number_before(staging, TABLE, run) == 1
    staging.sql(f"insert into {TABLE} values (2)")
    assert sequence_number_before(staging, TABLE, run) == 1


def test_the_first_run_adds_all_rows(staging: SparkSession) -> None:
    before = dt.datetime.now(dt.timezone.utc) - dt.timedelta(days=1)
    assert sequence_number_before(staging, TABLE, before) == 0


@pytest.mark.parametrize(
    "statements",
    [
        (f"delete from {TABLE} where id = 1", f"insert into {TABLE} values (1)"),
        (f"create or replace table {TABLE} using iceberg as select 1 as id",),
    ],
    ids=["requeue", "full refresh"],
)
def test_of_a_run_that_writes_rows_anew_it_is_not_known_which_it_adds(
    staging: SparkSession, statements: tuple[str, ...]
) -> None:
    run = begun()
    for statement in statements:
        staging.sql(statement)
    assert sequence_number_before(staging, TABLE, run) is None
    assert sequence_number_before(staging, TABLE, begun()) is not None
