"""`python -m profiling`: where the time and the memory go, and how other engines compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, TypeVar

import typer
from pyspark.sql import SparkSession

from benchmarks import full, machine, pages
from benchmarks.console import opened, say
from benchmarks.options import (
    ALL_FORMATS,
    Drawn,
    Formats,
    Repeat,
    Select,
    Setup,
    Size,
    Sizes,
    WarmUp,
    formats_of,
    numbers_of,
    selection_of,
)
from cdc_marts.cli.options import field_by_field
from profiling import sections
from profiling.competitors.competitor import FLINK_FORMATS, add_competitors
from profiling.parse import measure_parse
from profiling.profiler import Profiler
from profiling.rebuild import measure_rebuild

app = typer.Typer(
    help="Where the time and the memory of the models go, and what other engines take.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)

_LARGE_MESSAGES = 40
_OF_FLINK = ",".join(FLINK_FORMATS)
_DRAWN, _SETUP = Drawn(), Setup()
_OF_MANY_TABLES = Drawn(tables=200)
_Measured = TypeVar("_Measured")


@app.command("competitors")
@field_by_field
def competitors_command(
    formats: Formats = _OF_FLINK,
    sizes: Sizes = "1600000",
    drawn: Drawn = _DRAWN,
    repeat: Repeat = 1,
    warm_up: WarmUp = 20_000,
    setup: Setup = _SETUP,
) -> None:
    """Build everything as `benchmarks full` does, and give the messages to Flink SQL and DuckDB.

    An engine is left out if it does not know the format or cannot be installed.
    """
    workloads = [drawn.workload(changes) for changes in numbers_of(sizes)]
    builds = []
    with opened(setup) as session:
        described = machine.description(session)
        warmed_up = full.warmed_up(session, formats_of(formats), workloads, warm_up)
        for source_format, workload in warmed_up:
            build = full.measure_full(session, source_format, workload, repeat, say=say)
            add_competitors(session, build, repeat, say)
            builds.append(build)
    pages.write_full("competitors", "The models and other engines", described, builds, setup)


@app.command("memory")
@field_by_field
def memory_command(
    formats: Formats = "canal_json",
    size: Size = 5_000_000,
    large_bytes: Annotated[
        int, typer.Option(help="Size of the large messages, of which there are few.")
    ] = 20_000_000,
    drawn: Drawn = _OF_MANY_TABLES,
    select: Select = None,
    setup: Setup = _SETUP,
) -> None:
    """Build many messages in little memory: spread evenly, skewed, in many tables, or large."""
    many = drawn.workload(size)
    even = replace(many, tables=1)
    large = replace(
        even,
        changes=_LARGE_MESSAGES,
        message_bytes=large_bytes,
        keys=_LARGE_MESSAGES // 4,
    )
    workloads = [even, replace(even, skewed=True), many, large]
    with opened(setup) as session:
        described = machine.description(session)
        builds = [
            full.measure_models(session, source_format, workload, selection_of(select), say)
            for source_format in formats_of(formats)
            for workload in workloads
        ]
    title = f"Many messages, and large ones, in {setup.driver_memory}"
    pages.write_full("memory", title, described, builds, setup)


@app.command("parse")
@field_by_field
def parse_command(
    formats: Formats = ALL_FORMATS,
    size: Size = 100_000,
    drawn: Drawn = _DRAWN,
    repeat: Repeat = 5,
    setup: Setup = _SETUP,
) -> None:
    """Parse messages without writing anything, and show which parts of Spark take the time.

    async-profiler, which is downloaded, samples the call stacks of the tasks.
    """
    measure = partial(measure_parse, workload=drawn.workload(size), repeat=repeat, say=say)
    title = "Where the time of a parse goes"
    _write_profiles("parse", title, measure, sections.parses, formats, setup)


@app.command("state")
@field_by_field
def state_command(
    formats: Formats = ALL_FORMATS,
    size: Size = 400_000,
    drawn: Drawn = _DRAWN,
    repeat: Repeat = 5,
    setup: Setup = _SETUP,
) -> None:
    """Build latest_state repeatedly, and show which threads of Java take the time.

    async-profiler, which is downloaded, samples the threads.
    """
    measure = partial(measure_rebuild, workload=drawn.workload(size), repeat=repeat, say=say)
    title = "Where the time of a rebuild of latest_state goes"
    _write_profiles("state", title, measure, sections.rebuilds, formats, setup)


def _write_profiles(
    name: str,
    title: str,
    measure: Callable[[SparkSession, Profiler, str], _Measured],
    sections_of: Callable[[Sequence[_Measured]], Iterable[str]],
    formats: str,
    setup: Setup,
) -> None:
    """Measure each format in one session, with a profiler, and write one page for all formats."""
    names = formats_of(formats)
    with opened(setup) as session:
        described = machine.description(session)
        profiler = Profiler(session)
        measured = [measure(session, profiler, source_format) for source_format in names]
    pages.write(name, title, described, sections_of(measured), setup)
