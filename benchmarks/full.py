"""Measurements of all models and of parts of them, against the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from benchmarks import baselines, project
from benchmarks.baselines import job
from benchmarks.comparison import check_equal
from benchmarks.landing import land
from benchmarks.measure import Cost, measured, table_bytes
from benchmarks.workload import Workload
from cdc_marts.relations import OWN

#: The measured parts, in order. Each part of the project is compared with a part of the baseline.
MODELS, BASELINE = "all models", "baseline"
STAGING, BASELINE_EVENTS = "staging", "baseline: parse and write events"
STATE, BASELINE_STATE = "latest_state rebuilt", "baseline: latest state"
COMPARED = {MODELS: BASELINE, STAGING: BASELINE_EVENTS, STATE: BASELINE_STATE}

#: Selects the models after staging, up to latest_state.
TO_STATE = ("--select", "int_records+,+latest_state", "--exclude", "int_records")
#: Java compiles the planning of 40 models over several runs.
_WARM_UPS = 3


@dataclass
class FullBuild:
    """The repeated measurements of one format."""

    source_format: str
    workload: Workload
    messages: int
    landed_bytes: int
    costs: dict[str, list[Cost]] = field(default_factory=dict)

    @property
    def compared(self) -> dict[str, str]:
        """The pairs of `COMPARED` that were measured."""
        return {one: other for one, other in COMPARED.items() if {one, other} <= self.costs.keys()}

    @property
    def title(self) -> str:
        """Format, number and size of messages, and unusual settings."""
        workload = self.workload
        title = (
            f"{self.source_format}, {self.messages:,} messages of {workload.message_bytes:,} bytes"
        )
        several = f", {workload.tables} tables" if workload.tables > 1 else ""
        return title + several + (", skewed" if workload.skewed else "")

    def note(self, what: str, cost: Cost) -> None:
        self.costs.setdefault(what, []).append(cost)


def measure_full(
    session: SparkSession,
    source_format: str,
    workload: Workload,
    repeat: int,
    dbt_arguments: Sequence[str] = (),
    say: Callable[[str], None] = print,
) -> FullBuild:
    """Land a workload and build from it `repeat` times, each time from nothing.

    The result of the first build is compared with the baseline's.

    With `dbt_arguments`, which select models, the parts are not measured, and nothing is compared
    with the baseline: models that this needs may be missing.
    """
    build = _landed(session, source_format, workload)
    for number in range(1, repeat + 1):
        say(f"{source_format}: {build.messages:,} messages, {number} of {repeat}")
        _build_once(session, build, dbt_arguments, is_compared=number == 1)
    return build


def measure_models(
    session: SparkSession,
    source_format: str,
    workload: Workload,
    dbt_arguments: Sequence[str] = (),
    say: Callable[[str], None] = print,
) -> FullBuild:
    """Land a workload and build from it once, without the baseline."""
    build = _landed(session, source_format, workload)
    say(f"{source_format}: {build.messages:,} messages of {workload.message_bytes:,} bytes")
    build.note(MODELS, project.run_models(session, workload, *dbt_arguments))
    return build


def warmed_up(
    session: SparkSession,
    formats: Sequence[str],
    workloads: Sequence[Workload],
    changes: int,
    dbt_arguments: Sequence[str] = (),
) -> Iterator[tuple[str, Workload]]:
    """Yield each format with each workload. Before a format's first one, run its warm-up.

    `changes`: in each build of a warm-up; 0 for none.
    """
    for source_format in formats:
        if changes:
            _warm_up(session, source_format, workloads[0], changes, dbt_arguments)
        for workload in workloads:
            yield source_format, workload


def _warm_up(
    session: SparkSession,
    source_format: str,
    workload: Workload,
    changes: int,
    dbt_arguments: Sequence[str],
) -> None:
    """Run everything that will be measured at a small size: Java's compilers learn from it."""
    keys = max(2, min(workload.keys, changes // 3))
    # The baseline, which runs too, can't handle rare changes.
    small = replace(workload, changes=changes, keys=keys, rare_share=0.0)
    measure_full(session, source_format, small, _WARM_UPS, dbt_arguments, say=lambda _: None)


def _landed(session: SparkSession, source_format: str, workload: Workload) -> FullBuild:
    project.empty(session)
    messages = land(session, source_format, workload)
    landed = table_bytes(session, OWN.landed(source_format))
    return FullBuild(source_format, workload, messages, landed)


def _build_once(
    session: SparkSession, build: FullBuild, dbt_arguments: Sequence[str], is_compared: bool
) -> None:
    source_format, workload = build.source_format, build.workload
    messages = session.table(OWN.landed(source_format))
    staging = (f"base_{source_format}", f"stg_{source_format}")

    project.unbuild(session)
    with measured(session) as baseline:
        with measured(session) as events:
            job.write_change_events(baselines.events(source_format, messages))
        with measured(session) as state:
            job.write_latest_state(session)
    events.written_bytes = table_bytes(session, job.CHANGE_EVENTS)
    state.written_bytes = table_bytes(session, job.LATEST_STATE)
    baseline.written_bytes = events.written_bytes + state.written_bytes
    build.note(MODELS, project.run_models(session, workload, *dbt_arguments))
    build.note(BASELINE, baseline)
    if not dbt_arguments:
        if is_compared:
            check_equal(session, source_format)
        build.note(STATE, project.run_models(session, workload, "--full-refresh", *TO_STATE))
        build.note(BASELINE_STATE, state)
        project.unbuild(session)
        build.note(STAGING, project.run_models(session, workload, "--select", *staging))
        build.note(BASELINE_EVENTS, events)
