"""`python -m benchmarks`: the project's models, measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer
from pyspark.sql import SparkSession

from benchmarks import full, incremental, machine, plot, project, report
from benchmarks.competitors.competitor import add_competitors
from benchmarks.messages import FORMATS_WITH_RARE_CHANGES
from benchmarks.options import Drawn, Setup, field_by_field
from benchmarks.parse import measure_parse
from benchmarks.profiler import Profiler
from benchmarks.rebuild import measure_rebuild
from benchmarks.workload import Workload
from cdc_marts.formats import SOURCE_FORMATS

app = typer.Typer(
    help="The project's models, measured against the shortest job that does their work by hand.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)

Formats = Annotated[
    str, typer.Option("--formats", metavar="A,B", help=f"Of {', '.join(SOURCE_FORMATS)}.")
]
Sizes = Annotated[str, typer.Option("--sizes", metavar="N,M", help="Numbers of row changes.")]
Skew = Annotated[bool, typer.Option("--skew", help="80 % of the changes are of one row.")]
Repeat = Annotated[int, typer.Option(min=1, help="Measurements of each thing.")]
WarmUp = Annotated[int, typer.Option(help="Changes in each build that warms up, 0 for none.")]
Select = Annotated[
    str | None, typer.Option(metavar="SELECTION", help="Passed on to `dbt run`: all models if not.")
]
Competitors = Annotated[
    bool, typer.Option(help="Also Flink SQL and DuckDB, where they know the format and install.")
]
_ALL = ",".join(SOURCE_FORMATS)
_LARGE_MESSAGES = 40
_DRAWN, _SETUP = Drawn(), Setup()
_OF_MANY_TABLES = Drawn(tables=200)
_Number = TypeVar("_Number", int, float)
_Measured = TypeVar("_Measured")


@app.command("full")
@field_by_field
def full_command(
    formats: Formats = _ALL,
    sizes: Sizes = "400000",
    drawn: Drawn = _DRAWN,
    skew: Skew = False,
    repeat: Repeat = 5,
    warm_up: WarmUp = 20_000,
    select: Select = None,
    competitors: Competitors = True,
    setup: Setup = _SETUP,
) -> None:
    """Build everything from landed messages, and the baseline from the same ones.

    Also staging alone, and latest_state rebuilt from staging.
    """
    arguments = _selection(select)
    workloads = [drawn.workload(changes, skew) for changes in _numbers(sizes, int)]
    builds = []
    with _session(setup) as session:
        described = machine.description(session)
        for source_format, workload in _warmed_up(session, formats, workloads, warm_up, arguments):
            build = full.measure_full(session, source_format, workload, repeat, arguments, _say)
            if competitors:
                add_competitors(session, build, repeat, _say)
            builds.append(build)
            _say("\n\n".join(report.full_builds([build])))
    _write_full("full", "The models against the baseline", described, builds, setup)


@app.command("memory")
@field_by_field
def memory_command(
    formats: Formats = "canal_json",
    size: Annotated[int, typer.Option(help="Number of row changes.")] = 5_000_000,
    large_bytes: Annotated[
        int, typer.Option(help="Size of the large ones, of which there are a few.")
    ] = 20_000_000,
    drawn: Drawn = _OF_MANY_TABLES,
    select: Select = None,
    setup: Setup = _SETUP,
) -> None:
    """Build many messages in little memory: evenly spread, skewed, of many tables; and large."""
    many = drawn.workload(size)
    even = replace(many, tables=1)
    large = replace(
        even,
        changes=_LARGE_MESSAGES,
        message_bytes=large_bytes,
        keys=_LARGE_MESSAGES // 4,
    )
    workloads = [even, replace(even, skewed=True), many, large]
    with _session(setup) as session:
        described = machine.description(session)
        builds = [
            full.measure_models(session, source_format, workload, _selection(select), _say)
            for source_format in _formats(formats)
            for workload in workloads
        ]
    title = f"Many messages, and large ones, in {setup.driver_memory}"
    _write_full("memory", title, described, builds, setup)


@app.command("incremental")
@field_by_field
def incremental_command(
    formats: Formats = _ALL,
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
    """Land some more messages on a base that was built, and run; and run with nothing new."""
    if rare_share and not set(_formats(formats)) <= set(FORMATS_WITH_RARE_CHANGES):
        known = ", ".join(FORMATS_WITH_RARE_CHANGES)
        raise typer.BadParameter(f"Rare changes are written as {known} only: add --formats.")
    arguments = _selection(select)
    workloads = [
        replace(drawn.workload(changes, skew), rare_share=rare_share)
        for changes in _numbers(sizes, int)
    ]
    measured = []
    with _session(setup) as session:
        described = machine.description(session)
        for source_format, workload in _warmed_up(session, formats, workloads, warm_up, arguments):
            increments = incremental.measure_increments(
                session,
                source_format,
                workload,
                _numbers(new, int),
                repeat,
                arguments,
                _say,
            )
            measured.append(increments)
            _say(report.increments(increments))
    sections = map(report.increments, measured)
    draw = partial(plot.increments, measured)
    _write("incremental", "New messages, and none", described, sections, setup, draw)


@app.command("parse")
@field_by_field
def parse_command(
    formats: Formats = _ALL,
    size: Annotated[int, typer.Option(help="Number of row changes.")] = 100_000,
    drawn: Drawn = _DRAWN,
    repeat: Repeat = 5,
    setup: Setup = _SETUP,
) -> None:
    """Parse messages without writing anything, and show which parts of Spark take the time.

    async-profiler, which is downloaded, samples the call stacks of the tasks.
    """
    title = "Where the time of a parse goes"
    measure = partial(measure_parse, workload=drawn.workload(size), repeat=repeat, say=_say)
    _write_profiles("parse", title, measure, report.parses, formats, setup)


@app.command("state")
@field_by_field
def state_command(
    formats: Formats = _ALL,
    size: Annotated[int, typer.Option(help="Number of row changes.")] = 400_000,
    drawn: Drawn = _DRAWN,
    repeat: Repeat = 5,
    setup: Setup = _SETUP,
) -> None:
    """Build latest_state again and again, and show which threads of Java take the time.

    async-profiler, which is downloaded, samples the threads.
    """
    title = "Where the time of a rebuild of latest_state goes"
    measure = partial(measure_rebuild, workload=drawn.workload(size), repeat=repeat, say=_say)
    _write_profiles("state", title, measure, report.rebuilds, formats, setup)


def _warmed_up(
    session: SparkSession,
    formats: str,
    workloads: Sequence[Workload],
    warm_up: int,
    dbt_arguments: Sequence[str],
) -> Iterator[tuple[str, Workload]]:
    """Each format with each workload; before a format's first one its warm-up is run."""
    for source_format in _formats(formats):
        if warm_up:
            full.warm_up(session, source_format, workloads[0], warm_up, dbt_arguments)
        for workload in workloads:
            yield source_format, workload


def _write_profiles(
    name: str,
    title: str,
    measure: Callable[[SparkSession, Profiler, str], _Measured],
    sections: Callable[[Sequence[_Measured]], Iterable[str]],
    formats: str,
    setup: Setup,
) -> None:
    """Measure each format in one session, with a profiler, and write the page of all of them."""
    with _session(setup) as session:
        described = machine.description(session)
        profiler = Profiler(session)
        measured = [
            measure(session, profiler, source_format) for source_format in _formats(formats)
        ]
    _write(name, title, described, sections(measured), setup)


def _write_full(
    name: str,
    title: str,
    described: dict[str, str],
    builds: Sequence[full.FullBuild],
    setup: Setup,
) -> None:
    draw = partial(plot.full_builds, builds)
    _write(name, title, described, report.full_builds(builds), setup, draw)


def _write(
    name: str,
    title: str,
    described: dict[str, str],
    sections: Iterable[str],
    setup: Setup,
    draw: Callable[[Path], None] | None = None,
) -> None:
    """Write a page, and the plot in front of its sections if there is something to draw."""
    setup.output.mkdir(parents=True, exist_ok=True)
    page = setup.output / f"{name}.md"
    plotted = [f"![{title}]({name}.svg)"] if draw else []
    page.write_text(report.document(title, described, [*plotted, *sections]), "utf-8")
    _say(f"Wrote {page}")
    if draw:
        _plot(draw, page.with_suffix(".svg"))


def _plot(draw: Callable[[Path], None], path: Path) -> None:
    try:
        draw(path)
    except ModuleNotFoundError as error:
        _say(f"No plot: {error}; `./run --group benchmarks python -m benchmarks …` has it.")


@contextmanager
def _session(setup: Setup) -> Iterator[SparkSession]:
    try:
        with project.opened(setup.home, setup.driver_memory) as session:
            yield session
    except project.BenchmarkError as error:
        _stop(str(error))


def _selection(select: str | None) -> Sequence[str]:
    return () if select is None else ("--select", select)


def _formats(names: str) -> list[str]:
    formats = names.split(",")
    for name in formats:
        if name not in SOURCE_FORMATS:
            raise typer.BadParameter(f"There is no format {name}: {', '.join(SOURCE_FORMATS)}.")
    return formats


def _numbers(texts: str, type_: type[_Number]) -> list[_Number]:
    try:
        return [type_(text) for text in texts.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{texts} are no numbers with commas between.") from None


def _say(text: str) -> None:
    typer.echo(text)


def _stop(text: str) -> NoReturn:
    typer.echo(text, err=True)
    raise typer.Exit(1)
