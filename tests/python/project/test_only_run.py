"""Commands that write wait for dbt runs, and runs for them, but not for a question's answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from dbt.adapters.spark_session import api, run_lock
from dbt.adapters.spark_session.api import RunLock, SessionError
from pyspark.sql import SparkSession

from cdc_marts.project import locks
from cdc_marts.project.locks import only_run, turn_of_others
from cdc_marts.project.target import Target

LOCK = "locks.of_maintenance"


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Iterator[Target]:
    """A target with a run lock."""
    shared = SimpleNamespace(run_lock=LOCK, lock_timeout=0.1)
    monkeypatch.setattr(locks, "credentials_of", lambda *_: shared)
    yield Target("cluster", Path(), Path())
    spark.sql(f"drop table if exists {LOCK} purge")


def test_maintenance_and_a_run_wait_for_each_other(spark: SparkSession, target: Target) -> None:
    with only_run(spark, target), pytest.raises(SessionError, match="still uses"):
        RunLock(spark.newSession(), LOCK).take(timeout=0.1)
    run = RunLock(spark.newSession(), LOCK)
    run.take(timeout=0)
    with pytest.raises(SessionError, match="still uses"), only_run(spark, target):
        pass
    run.release()


def test_a_process_that_gave_no_sign_of_life_may_not_write(
    spark: SparkSession, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    with only_run(spark, target) as check_turn:
        check_turn()
        monkeypatch.setattr(run_lock, "GIVE_UP_AFTER", -1.0)
        with pytest.raises(SessionError, match="no sign of life"):
            check_turn()


def test_an_embedded_target_keeps_its_turn(
    spark: SparkSession, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = SimpleNamespace(run_lock=None, lock_timeout=0.1)
    monkeypatch.setattr(locks, "credentials_of", lambda *_: embedded)
    with only_run(spark, target) as check_turn:
        check_turn()


@pytest.mark.parametrize("error", [None, typer.Abort()])
def test_others_may_write_while_a_question_waits(
    error: Exception | None, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the answer ends the command, it does not wait for them."""
    done: list[str] = []
    monkeypatch.setattr(api, "release_home", lambda: done.append("released"))
    monkeypatch.setattr(api, "take_home", lambda _: done.append("taken"))
    with suppress(typer.Abort), turn_of_others(target, done.append):
        done.append("asked")
        if error is not None:
            raise error
    assert done == ["released", "asked", *(["taken"] if error is None else [])]
