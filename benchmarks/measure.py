"""The cost of a piece of work: time, memory, Spark's work, bytes written."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psutil
from dbt.adapters.spark_session.api import tables_of
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

_SAMPLING_SECONDS = 0.1


@dataclass(frozen=True)
class SparkWork:
    """The work of Spark's executors."""

    stages: int
    tasks: int
    task_seconds: float
    #: time in which a processor ran the tasks' code; tasks also wait for processors
    processor_seconds: float
    #: rows that tasks read from tables; bytes would leave out some of Iceberg's
    input_records: int
    shuffle_bytes: int
    #: bytes that sorts and groups wrote to disk, because they did not fit into memory
    spilled_bytes: int


@dataclass
class Cost:
    """The cost of a piece of work, filled when the work is done."""

    seconds: float = 0
    #: the largest resident memory of Python, the JVM and their children together
    peak_rss_bytes: int = 0
    #: None if the work was not Spark's
    spark: SparkWork | None = None
    #: None if nobody counted
    written_bytes: int | None = None
    #: model -> seconds, if the work was dbt's
    models: dict[str, float] = field(default_factory=dict)
    #: seconds of dbt outside of its models: parsing, listing, hooks
    dbt_seconds: float = 0


@contextmanager
def measured(session: SparkSession | None = None, pid: int | None = None) -> Iterator[Cost]:
    """Yield the cost of the block, with Spark's work if a session is given.

    `pid`: the process whose memory counts, by default this one.
    """
    cost = Cost()
    before = _Totals.of(session) if session else None
    with _peak_rss(cost, psutil.Process(pid)):
        started = time.perf_counter()
        yield cost
        cost.seconds = cost.seconds or time.perf_counter() - started
    if session and before:
        cost.spark = _work_since(session, before)


class _Totals(NamedTuple):
    """Spark's counts since its session began."""

    stages: int
    tasks: int
    shuffle_bytes: int

    @classmethod
    def of(cls, session: SparkSession) -> _Totals:
        context = session.sparkContext._jsc.sc()
        # The figures come from events, which arrive a little later.
        context.listenerBus().waitUntilEmpty()
        executors = context.statusStore().executorList(False)
        summaries = [executors.apply(index) for index in range(executors.size())]
        return cls(
            context.dagScheduler().nextStageId(),
            sum(summary.totalTasks() for summary in summaries),
            sum(summary.totalShuffleWrite() for summary in summaries),
        )


def _work_since(session: SparkSession, before: _Totals) -> SparkWork:
    now = _Totals.of(session)
    stages = list(_stages(session, range(before.stages, now.stages)))
    return SparkWork(
        stages=now.stages - before.stages,
        tasks=now.tasks - before.tasks,
        task_seconds=sum(stage.executorRunTime() for stage in stages) / 1000,
        processor_seconds=sum(stage.executorCpuTime() for stage in stages) / 10**9,
        input_records=sum(stage.inputRecords() for stage in stages),
        shuffle_bytes=now.shuffle_bytes - before.shuffle_bytes,
        spilled_bytes=sum(stage.diskBytesSpilled() for stage in stages),
    )


def _stages(session: SparkSession, numbers: range) -> Iterator[Any]:
    """Yield the stages of these numbers that Spark ran."""
    store = session.sparkContext._jsc.sc().statusStore()
    for number in numbers:
        # The store does not know skipped stages.
        with suppress(Py4JJavaError):
            yield store.lastStageAttempt(number)


def written_bytes(session: SparkSession, namespaces: tuple[str, ...]) -> int:
    """Return the bytes of the files that all snapshots of all tables added."""
    return sum(table_bytes(session, table) for table in tables_of(session, namespaces))


def table_bytes(session: SparkSession, table: str) -> int:
    """Return the bytes of the files that all snapshots of a table added."""
    [(added,)] = session.sql(
        f"select sum(cast(summary['added-files-size'] as bigint)) from {table}.snapshots"
    ).collect()
    return added or 0


@contextmanager
def _peak_rss(cost: Cost, process: psutil.Process) -> Iterator[None]:
    done = threading.Event()

    def sample() -> None:
        while not done.is_set():
            cost.peak_rss_bytes = max(cost.peak_rss_bytes, _rss_bytes(process))
            done.wait(_SAMPLING_SECONDS)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield
    finally:
        done.set()
        sampler.join()


def _rss_bytes(process: psutil.Process) -> int:
    """Return the memory of a process and its children, without the JVM's children.

    These are forks that share its memory.
    """
    # A child may end meanwhile.
    try:
        own = process.memory_info().rss
        if process.name() == "java":
            return own
        return own + sum(_rss_bytes(child) for child in process.children())
    except psutil.NoSuchProcess:
        return 0
