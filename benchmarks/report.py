"""Measurements as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from benchmarks.full import (
    MODELS,
    STAGING,
    FullBuild,
)
from benchmarks.incremental import Increments
from benchmarks.measure import Cost, SparkWork
from benchmarks.workload import Workload

_MIB = 2**20
_TOP_MODELS = 15

Rows = Sequence[Sequence[str]]


def table(head: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table. All columns except the first are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def document(title: str, machine: Mapping[str, str], sections: Iterable[str]) -> str:
    """Return a page: title, machine, sections."""
    facts = "\n".join(f"- {name}: {value}" for name, value in machine.items())
    return "\n\n".join([f"# {title}", facts, *sections]) + "\n"


def full_builds(builds: Sequence[FullBuild]) -> list[str]:
    """Return a section for each build, and a section for the ratios of compared builds."""
    ratios = [_ratios(builds)] if any(build.compared for build in builds) else []
    return [*ratios, *(_full_build(build) for build in builds)]


def increments(one: Increments) -> str:
    """Return a section of one format: the cost of runs with new messages, and with none."""
    empty = median(cost.seconds for cost in one.empty)
    rows = [
        [
            what,
            *cost_row(runs),
            f"{max(0.0, median(run.seconds for run in runs) - empty):.2f}",
            f"{_task_seconds(runs) / _task_seconds([one.full]):.1%}",
        ]
        for what, runs in one.costs.items()
    ]
    workload = one.workload
    read = max(cost.spark.input_records for cost in one.empty if cost.spark)
    summary = (
        f"A base of {workload.changes:,} changes in messages of {workload.message_bytes:,} bytes."
        f"{_rare(workload)}"
        f" Runs with nothing new read {read:,} rows at most: {one.landed:,} messages were landed."
    )
    head = ["", *COST_HEAD, "s without those of an empty run", "task s / full build's"]
    sections = [f"## {one.source_format}", summary, table(head, rows)]
    for what, runs in one.costs.items():
        sections += [f"Each model's own time, {what}:", model_seconds(runs)]
    return "\n\n".join(sections)


def _rare(workload: Workload) -> str:
    if not workload.rare_share:
        return ""
    share = f"{workload.rare_share:.1%}"
    return (
        f" They are of {workload.keys:,} rows in {workload.tables} tables. {share} of them change"
        f" the key of their row, the messages of {share} lack a value, {share} are delivered twice;"
        f" {workload.changes // workload.changes_per_truncation:,} times the first of these tables"
        " was truncated."
    )


def _task_seconds(costs: Sequence[Cost]) -> float:
    return median(cost.spark.task_seconds for cost in costs if cost.spark)


def seconds(values: Sequence[float]) -> list[str]:
    """Return min, median and max."""
    return [f"{value:.2f}" for value in (min(values), median(values), max(values))]


def model_seconds(costs: Sequence[Cost], most: int = _TOP_MODELS) -> str:
    """Return a table of the slowest models, with the median of their own seconds."""
    names = {name for cost in costs for name in cost.models}
    took = {name: [cost.models.get(name, 0) for cost in costs] for name in names}
    longest = sorted(took, key=lambda name: -median(took[name]))[:most]
    return table(
        ["model", "min s", "median s", "max s"],
        [[f"`{name}`", *seconds(took[name])] for name in longest],
    )


def cost_row(costs: Sequence[Cost]) -> list[str]:
    """Return the cells of `COST_HEAD`: seconds, the largest peak, and medians of the rest."""
    return [
        *seconds([cost.seconds for cost in costs]),
        f"{max(cost.peak_rss_bytes for cost in costs) / _MIB:,.0f}",
        _mib([cost.written_bytes for cost in costs if cost.written_bytes is not None]),
        *_spark_cells([cost.spark for cost in costs if cost.spark]),
    ]


def _spark_cells(work: Sequence[SparkWork]) -> list[str]:
    """Return the cells of Spark's work; empty if the work was not Spark's."""
    if not work:
        return [""] * 5
    return [
        f"{median(one.stages for one in work):.0f}",
        f"{median(one.task_seconds for one in work):.1f}",
        f"{median(one.input_records for one in work):,.0f}",
        _mib([one.shuffle_bytes for one in work]),
        _mib([one.spilled_bytes for one in work]),
    ]


def _mib(numbers: Sequence[int]) -> str:
    """Return the median in MiB; empty if there are no numbers."""
    return f"{median(numbers) / _MIB:,.1f}" if numbers else ""


COST_HEAD = [
    *("min s", "median s", "max s", "peak RSS MiB", "written MiB"),
    *("stages", "task s", "rows read", "shuffled MiB", "spilled MiB"),
]


def _ratios(builds: Sequence[FullBuild]) -> str:
    compared = {one: other for build in builds for one, other in build.compared.items()}
    has_parts = STAGING in compared
    head = ["format", "messages", *(f"{one} / {other}" for one, other in compared.items())]
    rows = [
        [
            f"`{build.source_format}`",
            f"{build.messages:,}",
            *(f"{ratio(build, one, other):.2f}" for one, other in compared.items()),
            f"{build.messages / _median(build, MODELS):,.0f}",
            *([f"{_written(build, MODELS) / _written(build, STAGING):.2f}"] * has_parts),
        ]
        for build in builds
    ]
    head += ["messages a second", *(["bytes written / staging's"] * has_parts)]
    return "## Against the baseline\n\n" + table(head, rows)


def ratio(build: FullBuild, one: str, other: str) -> float:
    """Return the median seconds of one part, divided by those of the other."""
    return _median(build, one) / _median(build, other)


def _median(build: FullBuild, what: str) -> float:
    return median(cost.seconds for cost in build.costs[what])


def _written(build: FullBuild, what: str) -> float:
    written = (cost.written_bytes for cost in build.costs[what])
    return median(size for size in written if size is not None)


def _full_build(build: FullBuild) -> str:
    workload, repeated = build.workload, len(build.costs[MODELS])
    summary = (
        f"{build.landed_bytes / _MIB:,.0f} MiB landed, {workload.changes:,} changes of"
        f" {workload.keys:,} rows{', 80 % of them of one' if workload.skewed else ''},"
        f" {workload.update_share:.0%} updates, seed {workload.seed};"
        f" {repeated} repetition{'s' if repeated > 1 else ''}."
    )
    costs = table(
        ["", *COST_HEAD], [[what, *cost_row(costs)] for what, costs in build.costs.items()]
    )
    models = model_seconds(build.costs[MODELS])
    around = median(cost.dbt_seconds for cost in build.costs[MODELS])
    own = f"Each model's own time; dbt took {around:.1f} s around them (parsing, hooks):"
    return "\n\n".join([f"## {build.title}", summary, costs, own, models])
