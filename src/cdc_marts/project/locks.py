"""The locks of a target, which let one process write at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cdc_marts.project.notices import notices
from cdc_marts.project.profile import credentials_of
from cdc_marts.project.target import Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def only_run(
    session: SparkSession, target: Target, on_notice: Callable[[str], None] = lambda _: None
) -> Iterator[Callable[[], None]]:
    """Keep other dbt runs off `target` while the block runs. Wait for a run that has begun.

    Yield a function to call before each change. It raises SessionError if another run may have
    taken the place of this process, which was suspended or cut off from the catalog.

    On an embedded catalog, the open session already keeps other runs off.
    """
    from dbt.adapters.spark_session.api import RunLock

    with notices(on_notice):
        credentials = credentials_of(target)
        lock = None if credentials.run_lock is None else RunLock(session, credentials.run_lock)
        if lock is not None:
            lock.take(credentials.lock_timeout)
    try:
        yield _do_nothing if lock is None else lock.check
    finally:
        if lock is not None:
            lock.release()


@contextmanager
def turn_to_write(target: Target, on_notice: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of an embedded catalog while the block runs.

    Between two such blocks, other processes may write. On a shared catalog, each dbt run takes its
    lock itself.
    """
    from dbt.adapters.spark_session.api import release_home

    _take_home(target, on_notice)
    try:
        yield
    finally:
        release_home()


@contextmanager
def turn_of_others(target: Target, on_notice: Callable[[str], None]) -> Iterator[None]:
    """Let other processes write to an embedded catalog while a person answers a question.

    Wait for them afterwards, unless the block ends with an error.
    """
    from dbt.adapters.spark_session.api import release_home

    release_home()
    yield
    _take_home(target, on_notice)


def _do_nothing() -> None:
    pass


def _take_home(target: Target, on_notice: Callable[[str], None]) -> None:
    from dbt.adapters.spark_session.api import take_home

    with notices(on_notice):
        take_home(credentials_of(target).lock_timeout)
