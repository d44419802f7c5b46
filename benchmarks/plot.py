"""Measurements as plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.full import FullBuild


def full_builds(builds: Sequence[FullBuild], path: Path) -> None:
    """Bars of the compared parts: medians, with their range."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "cdc_marts"
    compared = {one: other for build in builds for one, other in build.compared.items()}
    figure, (axes,) = pyplot.subplots(
        1, len(compared), figsize=(14, 0.5 * len(builds) + 2), squeeze=False
    )
    names = [f"{build.source_format} {build.messages:,}" for build in builds]
    for axis, (one, other) in zip(axes, compared.items(), strict=True):
        for shift, what, color in ((-0.2, one, "#1f6f8b"), (0.2, other, "#c8c8c8")):
            values = [[cost.seconds for cost in build.costs[what]] for build in builds]
            middles = [median(value) for value in values]
            ranges = [
                [middle - min(value) for middle, value in zip(middles, values, strict=True)],
                [max(value) - middle for middle, value in zip(middles, values, strict=True)],
            ]
            places = [place + shift for place in range(len(builds))]
            axis.barh(places, middles, 0.38, xerr=ranges, label=what, color=color)
        axis.set_yticks(range(len(builds)), names if axis is axes[0] else [""] * len(names))
        axis.invert_yaxis()
        axis.set_xlabel("seconds")
        axis.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, 1.25))
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
