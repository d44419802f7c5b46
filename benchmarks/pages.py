"""The pages and plots that commands write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import plot, report
from benchmarks.console import say
from benchmarks.full import FullBuild
from benchmarks.options import Setup


def write_full(
    name: str,
    title: str,
    machine: Mapping[str, str],
    builds: Sequence[FullBuild],
    setup: Setup,
) -> None:
    """Write the page and the plot of full builds."""
    draw = partial(plot.full_builds, builds)
    write(name, title, machine, report.full_builds(builds), setup, draw)


def write(
    name: str,
    title: str,
    machine: Mapping[str, str],
    sections: Iterable[str],
    setup: Setup,
    draw: Callable[[Path], None] | None = None,
) -> None:
    """Write a page, and a plot before its sections if there is something to draw."""
    setup.output.mkdir(parents=True, exist_ok=True)
    page = setup.output / f"{name}.md"
    plotted = [f"![{title}]({name}.svg)"] if draw else []
    page.write_text(report.document(title, machine, [*plotted, *sections]), "utf-8")
    say(f"Wrote {page}")
    if draw:
        _plot(draw, page.with_suffix(".svg"))


def _plot(draw: Callable[[Path], None], path: Path) -> None:
    try:
        draw(path)
    except ModuleNotFoundError as error:
        say(f"No plot: {error}. Start the command with `./run --group benchmarks` to get it.")
