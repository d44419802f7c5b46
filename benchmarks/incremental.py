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
    #: The first run over the base.
    full: Cost
    #: Messages, when the last run was done.
    landed: int = 0
    #: Runs with nothing new.
    empty: list[Cost] = field(default_factory=list)
    #: Share of the base that is new -> runs.
    new: dict[float, list[Cost]] = field(default_factory=dict)

    @property
    def costs(self) -> dict[str, list[Cost]]:
        """What was measured -> its runs."""
        shares = {f"{share:.1%} new": runs for share, runs in self.new.items()}
        return {"full build": [self.full], "nothing new": self.empty, **shares}


def measure_increments(
    session: SparkSession,
    source_format: str,
    workload: Workload,
    shares: Sequence[float],
    repeat: int,
    dbt_arguments: Sequence[str] = (),
    say: Callable[[str], None] = print,
) -> Increments:
    """Build a base, then land and run `repeat` times each share of it anew.

    A run with nothing new stands between any two others.
    """
    project.empty(session)
    land(session, source_format, workload)
    say(f"{source_format}: base of {workload.changes:,} changes")
    full = project.run_models(session, workload, *dbt_arguments)
    increments = Increments(source_format, workload, full)
    changes = workload.changes
    for share in sorted(shares):
        for number in range(1, repeat + 1):
            new = replace(workload, changes=max(1, round(workload.changes * share)))
            land(session, source_format, new, first=changes)
            changes += new.changes
            say(f"{source_format}: {new.changes:,} new changes, {number} of {repeat}")
            cost = project.run_models(session, workload, *dbt_arguments)
            increments.new.setdefault(share, []).append(cost)
            increments.empty.append(project.run_models(session, workload, *dbt_arguments))
    increments.landed = session.table(OWN.landed(source_format)).count()
    return increments
