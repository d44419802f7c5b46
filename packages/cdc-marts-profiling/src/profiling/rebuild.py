"""The time of a rebuild of `latest_state`, and the threads of Java that take it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median

import psutil
from dbt.adapters.spark_session.api import java_class
from pyspark.sql import SparkSession

from benchmarks import baselines, project
from benchmarks.baselines import job
from benchmarks.full import BASELINE_STATE, STATE, TO_STATE
from benchmarks.landing import land
from benchmarks.measure import measured
from benchmarks.workload import Workload
from cdc_marts.relations import OWN
from profiling.profiler import Profiler

#: Rebuilds before the first measured one: Java's compilers learn from them.
_WARM_UPS = 4
TASKS = "tasks"
#: Part of the work -> prefixes of the names of its threads.
PARTS: dict[str, tuple[str, ...]] = {
    TASKS: ("Executor task launch worker",),
    "planning of queries, commits": ("Thread-",),
    "planning between stages, broadcasts": (
        "ResultQueryStageExecution",
        "shuffle-exchange",
        "broadcast-exchange",
    ),
    "Java's compilers": ("C1 CompilerThre", "C2 CompilerThre", "Sweeper thread"),
    "garbage collection": ("GC Thread", "G1 ", "VM Thread"),
}
OTHER = "scheduling of tasks, and what Spark notes of them"


@dataclass
class Rebuild:
    """The repeated measurements of one format, of the models and of the baseline."""

    source_format: str
    messages: int
    #: models or baseline -> the seconds of each rebuild
    seconds: dict[str, list[float]] = field(default_factory=dict)
    #: models or baseline -> part -> processor seconds of a rebuild, on average
    processor_seconds: dict[str, dict[str, float]] = field(default_factory=dict)

    def seconds_of(self, what: str) -> float:
        """Return the median of the seconds."""
        return median(self.seconds[what])

    def tasks_of(self, what: str) -> float:
        """Return the processor seconds of the tasks."""
        return self.processor_seconds[what][TASKS]


def measure_rebuild(
    session: SparkSession,
    profiler: Profiler,
    source_format: str,
    workload: Workload,
    repeat: int,
    say: Callable[[str], None] = print,
) -> Rebuild:
    """Land a workload, build all, and compute the state `repeat` times more.

    The models between staging and `latest_state` count too. The baseline reads its own events.
    """
    project.empty(session)
    rebuild = Rebuild(source_format, land(session, source_format, workload))
    say(f"{source_format}: {rebuild.messages:,} messages")
    messages = session.table(OWN.landed(source_format))
    job.write_change_events(baselines.events(source_format, messages))
    project.run_models(session, workload)
    seconds_of: dict[str, Callable[[], float]] = {
        STATE: lambda: project.seconds_of(project.dbt_run(workload, ["--full-refresh", *TO_STATE])),
        BASELINE_STATE: lambda: _seconds_of_baseline(session),
    }
    java = psutil.Process(java_class(session, "java.lang.ProcessHandle").current().pid())
    for what, seconds in seconds_of.items():
        for _ in range(_WARM_UPS):
            seconds()
        before = _processor_seconds(java)
        with profiler.sampled_threads() as samples:
            rebuild.seconds[what] = [seconds() for _ in range(repeat)]
        taken = (_processor_seconds(java) - before) / repeat
        by_part = samples_by_part(samples)
        rebuild.processor_seconds[what] = {
            part: taken * by_part[part] / by_part.total() for part in (*PARTS, OTHER)
        }
    return rebuild


def samples_by_part(samples: Mapping[str, int]) -> Counter[str]:
    """Return part of the work -> samples, from thread name -> samples."""
    by_part: Counter[str] = Counter()
    for thread, count in samples.items():
        of_thread = (part for part, names in PARTS.items() if thread.startswith(names))
        by_part[next(of_thread, OTHER)] += count
    return by_part


def _seconds_of_baseline(session: SparkSession) -> float:
    with measured() as cost:
        job.write_latest_state(session)
    return cost.seconds


def _processor_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
