"""Measurements as plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.full import MODELS, FullBuild
from benchmarks.incremental import Increments
from benchmarks.measure import Cost

_COLORS = ("#1f6f8b", "#c8c8c8", "#e0a458", "#7a9e7e", "#8c5e58")


def full_builds(builds: Sequence[FullBuild], path: Path) -> None:
    """Draw the compared parts side by side, for each build; without a baseline, only the models."""
    compared = {one: other for build in builds for one, other in build.compared.items()}
    names = [build.title for build in builds]
    if not compared:
        with _figure(path, 1, len(builds) * 2) as (axis,):
            _bars(axis, names, {MODELS: _seconds(build.costs[MODELS] for build in builds)})
        return
    with _figure(path, len(compared), len(builds) * 2) as axes:
        for axis, pair in zip(axes, compared.items(), strict=True):
            series = {what: _seconds(build.costs[what] for build in builds) for what in pair}
            _bars(axis, names, series)


def increments(measured: Sequence[Increments], path: Path) -> None:
    """Draw a full build, runs with new messages, and runs with none, for each base."""
    names = [f"{one.source_format} {one.workload.changes:,}" for one in measured]
    costs = [one.costs for one in measured]
    with _figure(path, 1, len(measured) * len(costs[0])) as (axis,):
        _bars(axis, names, {what: _seconds(one[what] for one in costs) for what in costs[0]})


def _seconds(costs: Iterable[Sequence[Cost]]) -> list[list[float]]:
    return [[cost.seconds for cost in repeated] for repeated in costs]


@contextmanager
def _figure(path: Path, columns: int, bars: int) -> Iterator[Sequence[Any]]:
    """Yield the axes of a row of plots, and write the figure after the block."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    # With this salt, the same figures give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "cdc_marts"
    size = (5 * columns + 2, 0.25 * bars + 2)
    figure, axes = pyplot.subplots(1, columns, figsize=size, squeeze=False, sharey=True)
    yield axes[0]
    axes[0][0].invert_yaxis()
    figure.tight_layout()
    # A legend may be wider than its plot.
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    pyplot.close(figure)


def _bars(axis: Any, names: Sequence[str], series: Mapping[str, Sequence[Sequence[float]]]) -> None:
    """Draw a bar per name and series: the median of its values, with their range."""
    height = 0.8 / len(series)
    for number, (what, values) in enumerate(series.items()):
        middles = [median(value) for value in values]
        spread = [
            [middle - min(value) for middle, value in zip(middles, values, strict=True)],
            [max(value) - middle for middle, value in zip(middles, values, strict=True)],
        ]
        places = [place + (number + 0.5) * height - 0.4 for place in range(len(names))]
        axis.barh(places, middles, height, xerr=spread, label=what, color=_COLORS[number])
    axis.set_yticks(range(len(names)), names)
    axis.set_xlabel("seconds")
    axis.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1))
