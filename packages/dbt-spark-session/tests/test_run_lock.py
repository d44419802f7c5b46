"""One run at a time on a shared catalog: the lock, whatever becomes of its holder."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from dbt.adapters.spark_session import run_lock
from dbt.adapters.spark_session.catalog import activate
from dbt.adapters.spark_session.errors import SessionError, message_of
from dbt.adapters.spark_session.jvm import java_class
from dbt.adapters.spark_session.run_lock import RunLock
from dbt.tests.util import run_dbt
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

NAME = "locks.run_lock"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said to the user."""
    lines: list[str] = []
    monkeypatch.setattr(run_lock.logger, "info", lines.append)
    monkeypatch.setattr(run_lock, "LOOK_EVERY", 0.05)
    return lines


@pytest.fixture
def a_run(spark: SparkSession, said: list[str]) -> Iterator[Callable[[], RunLock]]:
    """Makes the lock as one more run sees it."""
    locks: list[RunLock] = []

    def make() -> RunLock:
        locks.append(RunLock(spark.newSession(), NAME))
        return locks[-1]

    yield make
    for lock in locks:
        if lock._signing.ident is not None:
            lock.release()
    spark.sql(f"drop table if exists {NAME} purge")


def test_a_second_run_begins_when_the_first_has_ended(a_run, said):
    first, second = a_run(), a_run()
    first.take(timeout=0)
    end_of_first = threading.Timer(1, first.release)
    end_of_first.start()
    second.take(timeout=60)
    assert first._released.is_set()
    assert len(said) == 1 and "uses the catalog: waiting for it to end (up to 60 s)" in said[0]


def test_whoever_waits_too_long_is_told_who_runs(a_run):
    a_run().take(timeout=0)
    with pytest.raises(SessionError, match=r"Another run \(.* process \d+\) still uses"):
        a_run().take(timeout=0.1)


def test_of_two_that_saw_the_lock_free_one_gets_it(a_run):
    first, second = a_run(), a_run()
    a_run().take(timeout=0)
    for lock in (first, second):
        lock._table = run_lock.iceberg_table(lock._session, NAME)
    assert [first._move_head(), second._move_head()] == [True, False]


def test_a_run_whose_clock_is_behind_is_told_so(a_run, spark, monkeypatch):
    a_run().take(timeout=0)
    operations = run_lock.iceberg_table(spark, NAME).operations()
    operations.commit(operations.current(), an_hour_later(spark, operations.current()))
    monkeypatch.setattr(run_lock, "DEAD_AFTER", -1.0)
    with pytest.raises(IllegalArgumentException) as raised:
        a_run().take(timeout=0)
    assert message_of(raised.value).startswith("The clock of this machine is more than a minute")


def an_hour_later(spark, metadata):
    """The metadata of a table, as if another machine had made each commit an hour later."""
    parser = java_class(spark, "org.apache.iceberg.TableMetadataParser")
    return parser.fromJson(
        re.sub(
            r'("(?:timestamp-ms|last-updated-ms)" *: *)([0-9]+)',
            lambda found: f"{found[1]}{int(found[2]) + 3_600_000}",
            parser.toJson(metadata),
        )
    )


def test_many_that_come_at_once_run_one_after_the_other(a_run):
    running, most_running = [], []

    def run() -> None:
        lock = a_run()
        activate(lock._session)
        lock.take(timeout=60)
        running.append(lock)
        most_running.append(len(running))
        time.sleep(0.2)
        running.remove(lock)
        lock.release()

    runs = [threading.Thread(target=run) for _ in range(4)]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join()
    assert most_running == [1, 1, 1, 1]


def test_a_run_that_gives_no_sign_of_life_is_replaced(a_run, said, monkeypatch):
    killed = a_run()
    killed.take(timeout=0)
    monkeypatch.setattr(run_lock, "DEAD_AFTER", 1)
    a_run().take(timeout=60)
    assert "gave no sign of life for 1 s: taking its place" in said[-1]


def test_a_run_that_gives_signs_of_life_is_waited_for(a_run, monkeypatch):
    monkeypatch.setattr(run_lock, "SIGN_EVERY", 0.2)
    a_run().take(timeout=0)
    monkeypatch.setattr(run_lock, "DEAD_AFTER", 1.5)
    with pytest.raises(SessionError, match="still uses"):
        a_run().take(timeout=4)


def test_a_run_that_was_replaced_may_not_write_any_more(a_run, monkeypatch):
    monkeypatch.setattr(run_lock, "SIGN_EVERY", 0.3)
    first = a_run()
    first.take(timeout=0)
    first.check()
    second = a_run()
    second._table = run_lock.iceberg_table(second._session, NAME)
    while not second._move_head():
        second._table.refresh()
    first._signing.join(timeout=60)
    with pytest.raises(SessionError, match="another one may go on in its place"):
        first.check()


def test_a_run_that_cannot_give_signs_stops_before_another_begins(a_run, monkeypatch):
    monkeypatch.setattr(run_lock, "SIGN_EVERY", 0.2)
    monkeypatch.setattr(run_lock, "GIVE_UP_AFTER", 0.1)
    frozen = a_run()
    frozen.take(timeout=0)
    frozen._signing.join(timeout=60)
    with pytest.raises(SessionError, match="gave no sign of life"):
        frozen.check()


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="only Linux has this clock")
def test_a_run_that_was_suspended_with_its_machine_may_not_write_any_more(a_run, monkeypatch):
    suspended = a_run()
    suspended.take(timeout=0)
    suspended.check()
    clock_gettime = time.clock_gettime
    monkeypatch.setattr(
        time,
        "clock_gettime",
        lambda clock: clock_gettime(clock) + run_lock.DEAD_AFTER * (clock == time.CLOCK_BOOTTIME),
    )
    with pytest.raises(SessionError, match="gave no sign of life"):
        suspended.check()


class TestCommands:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return {**dbt_profile_target, "run_lock": "locks.of_commands"}

    @pytest.fixture(scope="class")
    def models(self):
        return {"a_view.sql": "select 1 as n"}

    def test_a_run_takes_the_lock_and_gives_it_back_and_reading_takes_none(self, project, spark):
        run_dbt(["run"])
        before = self.head(spark)
        run_dbt(["show", "--inline", "select 1 as n"])
        assert self.head(spark) == before
        run_dbt(["run"])
        after = self.head(spark)
        assert after != before
        ended = f"show tblproperties locks.of_commands ('{run_lock._ENDED}')"
        assert spark.sql(ended).first()["value"] == str(after)

    @staticmethod
    def head(spark: SparkSession) -> int:
        return spark.sql("select snapshot_id from locks.of_commands.refs").first()[0]
