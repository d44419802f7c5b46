"""Commands that write to a shared catalog wait for dbt runs, and runs for them: the run lock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from dbt.adapters.spark_session.api import RunLock, SessionError
from pyspark.sql import SparkSession

from cdc_marts.project import session
from cdc_marts.project.session import only_run
from cdc_marts.project.target import Target

LOCK = "locks.of_upkeep"


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Iterator[Target]:
    """A target with a run lock."""
    shared = SimpleNamespace(run_lock=LOCK, lock_timeout=0.1)
    monkeypatch.setattr(session, "_credentials", lambda *_: shared)
    yield Target("cluster", Path(), Path())
    spark.sql(f"drop table if exists {LOCK} purge")


def test_upkeep_and_a_run_wait_for_each_other(spark: SparkSession, target: Target) -> None:
    with only_run(spark, target), pytest.raises(SessionError, match="still uses"):
        RunLock(spark.newSession(), LOCK).take(timeout=0.1)
    run = RunLock(spark.newSession(), LOCK)
    run.take(timeout=0)
    with pytest.raises(SessionError, match="still uses"), only_run(spark, target):
        pass
    run.release()
