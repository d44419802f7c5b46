"""`maintain` on the tables of a large project after a day of runs: what it asks, and how long."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest
from dbt.adapters.spark_session.api import iceberg_table, snapshots
from pyspark.sql import SparkSession

from cdc_marts.operations import needed_snapshots as module
from cdc_marts.operations.maintenance import maintain
from cdc_marts.operations.needed_snapshots import needed_snapshots
from tests.python.project.many_tables import calls_of_java, clone, commit_snapshots

pytestmark = pytest.mark.long

TABLES = int(os.environ.get("UPKEEP_TABLES") or 2_000)
#: A run every ten minutes.
RUNS = 144
#: So many marts get the whole upkeep, for the time of one.
MAINTAINED = int(os.environ.get("UPKEEP_MAINTAINED") or 100)
#: Calls of Java for what a table needs.
MOST_CALLS = 25

SCHEMA = "upkeep_of_many"
LOG, MART = f"{SCHEMA}.log", f"{SCHEMA}.mart"


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[list[str]]:
    """A log, and marts that have read it in each run."""
    spark.sql(f"create namespace {SCHEMA}")
    for table in (LOG, MART):
        spark.sql(f"create table {table} (id bigint)")
        spark.sql(f"insert into {table} values (1)")
    commit_snapshots(spark, LOG, RUNS, None)
    commit_snapshots(spark, MART, RUNS, LOG)
    marts = clone(spark, MART, SCHEMA, TABLES - 2)
    yield [*marts, MART, LOG]
    for table in marts:
        spark.sql(f"drop table {table}")
    for table in (MART, LOG):
        spark.sql(f"drop table {table} purge")
    spark.sql(f"drop namespace {SCHEMA}")


def test_needed_snapshots_take_one_look_at_each_table(
    spark: SparkSession, tables: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    look = module.iceberg_table

    def counted(session: SparkSession, name: str) -> object:
        looks.append(name)
        return look(session, name)

    monkeypatch.setattr(module, "iceberg_table", counted)
    with measured(f"needed snapshots of {TABLES} tables with {RUNS} runs"):
        needed = needed_snapshots(spark, tables)

    assert sorted(looks) == sorted(tables)
    newest, *_ = snapshots(spark, iceberg_table(spark, MART))
    assert {needed[table].oldest for table in tables if table != LOG} == {newest.id}
    # All marts have read all but the newest snapshot.
    _, last_read, *_ = snapshots(spark, iceberg_table(spark, LOG))
    assert needed[LOG].oldest == last_read.id
    some = tables[:10]
    calls = calls_of_java(spark, lambda: needed_snapshots(spark, some))
    assert calls <= MOST_CALLS * len(some)


def test_upkeep_leaves_one_snapshot_of_a_mart(spark: SparkSession, tables: list[str]) -> None:
    some = tables[:MAINTAINED]
    with measured(f"upkeep of {len(some)} of them"):
        done = list(maintain(spark, some, 0))

    assert {(upkeep.before.snapshots, upkeep.after.snapshots) for upkeep in done} == {(RUNS + 1, 1)}


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Print how long something takes, and what Python and Java compute meanwhile."""
    started, before = time.monotonic(), _processor_seconds()
    yield
    computed = _processor_seconds() - before
    print(f"{what}: {time.monotonic() - started:.1f} s, {computed:.1f} s of a processor")


def _processor_seconds() -> float:
    process = psutil.Process()
    tree = [process, *process.children(recursive=True)]
    return sum(times.user + times.system for times in (member.cpu_times() for member in tree))
