"""`python -m benchmarks`: measurements of the project's models."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from benchmarks import full, incremental, machine, pages, plot, report
from benchmarks.console import opened, say
from benchmarks.messages import FORMATS_WITH_RARE_CHANGES
from benchmarks.options import (
    ALL_FORMATS,
    Drawn,
    Formats,
    Repeat,
    Select,
    Setup,
    Sizes,
    Skew,
    WarmUp,
    formats_of,
    numbers_of,
    selection_of,
)
from cdc_marts.cli.options import field_by_field

app = typer.Typer(
    help="The project's models, measured against the shortest job that does their work by hand.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)

_DRAWN, _SETUP = Drawn(), Setup()


@app.command("full")
@field_by_field
def full_command(
    formats: Formats = ALL_FORMATS,
    sizes: Sizes = "400000",
    drawn: Drawn = _DRAWN,
    skew: Skew = False,
    repeat: Repeat = 5,
    warm_up: WarmUp = 20_000,
    select: Select = None,
    setup: Setup = _SETUP,
) -> None:
    """Build everything from landed messages, and the baseline from the same messages.

    Also build staging alone, and latest_state from staging.
    """
    arguments = selection_of(select)
    workloads = [drawn.workload(changes, skew) for changes in numbers_of(sizes)]
    builds = []
    with opened(setup) as session:
        described = machine.description(session)
        warmed_up = full.warmed_up(session, formats_of(formats), workloads, warm_up, arguments)
        for source_format, workload in warmed_up:
            build = full.measure_full(session, source_format, workload, repeat, arguments, say)
            builds.append(build)
            say("\n\n".join(report.full_builds([build])))
    pages.write_full("full", "The models against the baseline", described, builds, setup)


@app.command("incremental")
@field_by_field
def incremental_command(
    formats: Formats = ALL_FORMATS,
    sizes: Sizes = "400000",
    new: Annotated[
        str, typer.Option(metavar="N,M", help="Numbers of new changes.")
    ] = "400,4000,40000",
    drawn: Drawn = _DRAWN,
    skew: Skew = False,
    rare_share: Annotated[
        float,
        typer.Option(
            min=0,
            max=0.5,
            help="Share of key changes, of messages that lack a value, and of redeliveries.",
        ),
    ] = 0.0,
    repeat: Repeat = 3,
    warm_up: WarmUp = 20_000,
    select: Select = None,
    setup: Setup = _SETUP,
) -> None:
    """Land further messages on a base that was built, and run; and run with nothing new."""
    names = formats_of(formats)
    if rare_share and not set(names) <= set(FORMATS_WITH_RARE_CHANGES):
        known = ", ".join(FORMATS_WITH_RARE_CHANGES)
        raise typer.BadParameter(f"Rare changes are written as {known} only: add --formats.")
    arguments = selection_of(select)
    workloads = [
        replace(drawn.workload(changes, skew), rare_share=rare_share)
        for changes in numbers_of(sizes)
    ]
    measured = []
    with opened(setup) as session:
        described = machine.description(session)
        warmed_up = full.warmed_up(session, names, workloads, warm_up, arguments)
        for source_format, workload in warmed_up:
            increments = incremental.measure_increments(
                session, source_format, workload, numbers_of(new), repeat, arguments, say
            )
            measured.append(increments)
            say(report.increments(increments))
    sections = map(report.increments, measured)
    draw = partial(plot.increments, measured)
    pages.write("incremental", "New messages, and none", described, sections, setup, draw)
