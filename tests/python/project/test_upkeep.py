"""`maintain` keeps the snapshots that incremental runs need, and expires the others."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from dbt.adapters.spark_session.api import IncrementalRead
from pyspark.sql import SparkSession

from cdc_marts.maintenance import maintain

SCHEMA = "upkeep"
LOG, QUICK, SLOW = (f"{SCHEMA}.{name}" for name in ("log", "quick_reader", "slow_reader"))


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[list[str]]:
    """A log with one row, and two tables that have read it."""
    tables = [LOG, QUICK, SLOW]
    spark.sql(f"create namespace {SCHEMA}")
    for table in tables:
        spark.sql(f"create table {table} (id bigint)")
    append(spark, 1)
    for reader in (QUICK, SLOW):
        read(spark, reader)
    yield tables
    for table in tables:
        spark.sql(f"drop table {table} purge")
    spark.sql(f"drop namespace {SCHEMA}")


def append(spark: SparkSession, id: int) -> None:
    spark.sql(f"insert into {LOG} values ({id})")


def read(spark: SparkSession, reader: str) -> None:
    """Append to a reader what it has not read of the log, as an incremental model does."""
    run = IncrementalRead(spark, reader, is_incremental=True)
    rows = run.new_rows(LOG)
    run.begin_commit()
    spark.sql(f"insert into {reader} select * from {rows}")
    run.end_commit()


def ids(spark: SparkSession, table: str) -> list[int]:
    return sorted(row.id for row in spark.table(table).collect())


def test_maintenance_keeps_what_readers_read_by(spark: SparkSession, tables: list[str]) -> None:
    for id in range(2, 8):
        append(spark, id)
        read(spark, QUICK)
    done = {upkeep.table: upkeep for upkeep in maintain(spark, tables, dt.timedelta())}
    # The slow reader has not read the newest six rows yet.
    assert done[LOG].snapshots[1] > 6
    assert done[LOG].files[1] < done[LOG].files[0]

    read(spark, SLOW)
    done = {upkeep.table: upkeep for upkeep in maintain(spark, tables, dt.timedelta())}
    # What the quick reader has read last, and on top of it the files and the manifests anew.
    assert done[LOG].snapshots[1] == 3
    append(spark, 8)
    for reader in (QUICK, SLOW):
        read(spark, reader)
        assert ids(spark, reader) == [*range(1, 9)]
