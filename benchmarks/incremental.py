"""New messages on a base that was built, and a run with nothing new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from benchmarks import project
from benchmarks.landing import land
from benchmarks.measure import Cost
from benchmarks.workload import Workload
from cdc_marts.relations import OWN


@dataclass
class Increments:
    """The repeated measurements of one format."""

    source_format: str
    workload: Workload
    #: the first run over the base
    full: Cost
    #: messages after the last run
    landed: int = 0
    #: runs with nothing new
    empty: list[Cost] = field(default_factory=list)
    #: number of new changes -> runs
    new: dict[int, list[Cost]] = field(default_factory=dict)

    @property
    def costs(self) -> dict[str, list[Cost]]:
        """What was measured -> its runs."""
        new = {f"{changes:,} new": runs for changes, runs in self.new.items()}
        return {"full build": [self.full], "nothing new": self.empty, **new}


def measure_increments(
    session: SparkSession,
    source_format: str,
    workload: Workload,
    new_changes: Sequence[int],
    repeat: int,
    dbt_arguments: Sequence[str] = (),
    say: Callable[[str], None] = print,
) -> Increments:
    """Build a base, then land and run each of these numbers of new changes `repeat` times.

    A run with nothing new follows each of these runs.
    """
    project.empty(session)
    land(session, source_format, workload)
    say(f"{source_format}: base of {workload.changes:,} changes")
    full = project.run_models(session, workload, *dbt_arguments)
    increments = Increments(source_format, workload, full)
    changes = workload.changes
    for new_count in sorted(new_changes):
        for number in range(1, repeat + 1):
            new = replace(workload, changes=new_count)
            land(session, source_format, new, first=changes)
            changes += new.changes
            say(f"{source_format}: {new.changes:,} new changes, {number} of {repeat}")
            cost = project.run_models(session, workload, *dbt_arguments)
            increments.new.setdefault(new_count, []).append(cost)
            increments.empty.append(project.run_models(session, workload, *dbt_arguments))
    increments.landed = session.table(OWN.landed(source_format)).count()
    return increments
