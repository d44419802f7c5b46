"""Many small runs, then `cdc-marts maintain`: what runs and queries take before and after it."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dbt.adapters.spark_session.api import tables_of
from pyspark.sql import SparkSession

from benchmarks import project
from benchmarks.landing import land
from benchmarks.queries import REPETITIONS, a_row, repeated_seconds
from benchmarks.workload import Workload
from cdc_marts.maintenance import Upkeep, maintain
from cdc_marts.relations import OWN

#: When was measured.
AFTER_RUNS, MAINTAINED, FRESH = "after the runs", "maintained", "built anew"
RUN = "a run with new messages"

#: What people ask; `{table}`, `{key}` and `{time}` are of one row.
_QUERIES = {
    "all current rows": "select count(`row`:note::string) from marts.latest_state",
    "a current row": (
        "select `row` from marts.latest_state where table_id = '{table}' and row_key = '{key}'"
    ),
    "all events": "select count(after:note::string) from marts.change_events",
    "the events of a second": (
        "select count(after:note::string) from marts.change_events where event_at between"
        " timestamp'{time}' - interval 1 second and timestamp'{time}'"
    ),
    "the versions of a row": (
        "select count(*) from marts.row_history where table_id = '{table}' and row_key = '{key}'"
    ),
}


@dataclass
class UpkeepMeasured:
    """Seconds of a run and of queries, at three times."""

    source_format: str
    workload: Workload
    runs: int
    #: messages of a run, as a share of the base
    share: float
    #: what -> when -> seconds of each repetition
    seconds: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    maintenance_seconds: float = 0
    #: what maintenance did, for each table
    upkeep: list[Upkeep] = field(default_factory=list)

    def note(self, what: str, when: str, seconds: float) -> None:
        self.seconds.setdefault(what, {}).setdefault(when, []).append(seconds)


def measure_upkeep(
    session: SparkSession,
    source_format: str,
    workload: Workload,
    runs: int,
    share: float,
    say: Callable[[str], None] = print,
) -> UpkeepMeasured:
    """Build a base, run `runs` times over new messages, maintain; then build all of it anew."""
    measured = UpkeepMeasured(source_format, workload, runs, share)
    new = replace(workload, changes=max(1, round(workload.changes * share)))
    project.empty(session)
    land(session, source_format, workload)
    say(f"{source_format}: base of {workload.changes:,} changes")
    project.run_models(session, workload)
    first = workload.changes

    def run() -> float:
        nonlocal first
        land(session, source_format, new, first=first)
        first += new.changes
        return project.run_models(session, workload).seconds

    def measure(when: str) -> None:
        say(f"{source_format}: {when}")
        for _ in range(REPETITIONS):
            measured.note(RUN, when, run())
        row = a_row(session)
        for what, query in _QUERIES.items():
            for seconds in repeated_seconds(session, query.format(**row)):
                measured.note(what, when, seconds)

    for number in range(1, runs + 1):
        seconds = run()
        say(f"{source_format}: run {number} of {runs}, {seconds:.1f} s")
    measure(AFTER_RUNS)
    started = time.perf_counter()
    measured.upkeep = list(maintain(session, tables_of(session, OWN.schemas), dt.timedelta(0)))
    measured.maintenance_seconds = time.perf_counter() - started
    measure(MAINTAINED)
    project.unbuild(session)
    project.run_models(session, workload)
    measure(FRESH)
    return measured
