"""`python -m benchmarks`: the project's models, measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple, NoReturn, TypeVar

import typer
from pyspark.sql import SparkSession

from benchmarks import full, incremental, layout, machine, plot, project, report, upkeep
from benchmarks.rivals.rival import add_rivals
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
MessageBytes = Annotated[int, typer.Option("--message-bytes", help="Mean size of a message.")]
Keys = Annotated[int, typer.Option(help="Rows that the changes are of.")]
Tables = Annotated[int, typer.Option(min=1, max=200, help="Tables that the rows are in.")]
UpdateShare = Annotated[
    float,
    typer.Option(min=0, max=1, help="Updates among the changes of rows that are there already."),
]
Skew = Annotated[bool, typer.Option("--skew", help="80 % of the changes are of one row.")]
Seed = Annotated[int, typer.Option(help="Other changes.")]
Repeat = Annotated[int, typer.Option(min=1, help="Measurements of each thing.")]
WarmUp = Annotated[int, typer.Option(help="Changes to warm up with, 0 for none.")]
Select = Annotated[
    str | None, typer.Option(metavar="SELECTION", help="Passed on to `dbt run`: all models if not.")
]
DriverMemory = Annotated[str, typer.Option(help="Memory of the JVM.")]
Rivals = Annotated[
    bool, typer.Option(help="Also Flink SQL and DuckDB, where they know the format and install.")
]
Home = Annotated[
    Path | None,
    typer.Option(help="Folder of the warehouse, which is kept; else one that is removed."),
]
Output = Annotated[Path, typer.Option(help="Folder of the report.")]

_DOCS = Path("docs/benchmarks")
_ALL = ",".join(SOURCE_FORMATS)
_LARGE_MESSAGES = 40
_Number = TypeVar("_Number", int, float)


class FullBuilds(NamedTuple):
    """Builds, and what they were measured on."""

    machine: dict[str, str]
    builds: list[full.FullBuild]


@app.command("full")
def full_command(
    formats: Formats = _ALL,
    sizes: Sizes = "400000",
    message_bytes: MessageBytes = 1000,
    keys: Keys = 50_000,
    tables: Tables = 1,
    update_share: UpdateShare = 0.8,
    skew: Skew = False,
    seed: Seed = 1,
    repeat: Repeat = 5,
    warm_up: WarmUp = 20_000,
    select: Select = None,
    rivals: Rivals = True,
    driver_memory: DriverMemory = "4g",
    home: Home = None,
    output: Output = _DOCS,
) -> None:
    """Build everything from landed messages, and the floor from the same ones.

    Also staging alone, and latest_state rebuilt from staging.
    """
    workloads = [
        Workload(changes, message_bytes, keys, tables, update_share, skew, seed)
        for changes in _numbers(sizes, int)
    ]
    builds = _full_builds(
        home,
        driver_memory,
        _formats(formats),
        workloads,
        repeat,
        warm_up,
        _selection(select),
        with_rivals=rivals,
    )
    _write_full("full", "The models against the floor", builds, output)


@app.command("memory")
def memory_command(
    formats: Formats = "canal_json",
    size: Annotated[int, typer.Option(help="Number of row changes.")] = 5_000_000,
    message_bytes: MessageBytes = 1000,
    large_bytes: Annotated[
        int, typer.Option(help="Size of the large ones, of which there are a few.")
    ] = 20_000_000,
    keys: Keys = 50_000,
    tables: Tables = 200,
    update_share: UpdateShare = 0.8,
    seed: Seed = 1,
    select: Select = None,
    driver_memory: DriverMemory = "4g",
    home: Home = None,
    output: Output = _DOCS,
) -> None:
    """Build many messages in little memory: evenly spread, skewed, of many tables; and large."""
    even = Workload(size, message_bytes, keys, 1, update_share, False, seed)
    large = Workload(
        _LARGE_MESSAGES, large_bytes, _LARGE_MESSAGES // 4, 1, update_share, False, seed
    )
    workloads = [even, replace(even, skewed=True), replace(even, tables=tables), large]
    with _session(home, driver_memory) as session:
        builds = [
            full.measure_models(session, source_format, workload, _selection(select), _tell)
            for source_format in _formats(formats)
            for workload in workloads
        ]
        described = machine.description(session)
    title = f"Many messages, and large ones, in {driver_memory}"
    _write_full("memory", title, FullBuilds(described, builds), output)


@app.command("incremental")
def incremental_command(
    formats: Formats = _ALL,
    sizes: Sizes = "400000",
    shares: Annotated[
        str, typer.Option(metavar="X,Y", help="New changes, as shares of the base.")
    ] = "0.001,0.01,0.1",
    message_bytes: MessageBytes = 1000,
    keys: Keys = 50_000,
    tables: Tables = 1,
    update_share: UpdateShare = 0.8,
    skew: Skew = False,
    seed: Seed = 1,
    repeat: Repeat = 3,
    warm_up: WarmUp = 20_000,
    select: Select = None,
    driver_memory: DriverMemory = "4g",
    home: Home = None,
    output: Output = _DOCS,
) -> None:
    """Land some more messages on a base that was built, and run; and run with nothing new."""
    arguments = _selection(select)
    workloads = [
        Workload(changes, message_bytes, keys, tables, update_share, skew, seed)
        for changes in _numbers(sizes, int)
    ]
    measured = []
    with _session(home, driver_memory) as session:
        described = machine.description(session)
        for source_format in _formats(formats):
            if warm_up:
                full.warm_up(session, source_format, workloads[0], warm_up, arguments)
            for workload in workloads:
                increments = incremental.measure_increments(
                    session,
                    source_format,
                    workload,
                    _numbers(shares, float),
                    repeat,
                    arguments,
                    _tell,
                )
                measured.append(increments)
                _tell(report.increments(increments))
    sections = map(report.increments, measured)
    _write("incremental", "New messages, and none", described, sections, output)
    _plot(lambda: plot.increments(measured, output / "incremental.svg"))


@app.command("upkeep")
def upkeep_command(
    formats: Formats = "canal_json",
    size: Annotated[int, typer.Option(help="Number of row changes of the base.")] = 400_000,
    runs: Annotated[int, typer.Option(min=1, help="Runs with new messages.")] = 50,
    share: Annotated[float, typer.Option(help="New changes of a run, as a share of the base.")] = (
        0.001
    ),
    message_bytes: MessageBytes = 1000,
    keys: Keys = 50_000,
    tables: Tables = 1,
    seed: Seed = 1,
    driver_memory: DriverMemory = "4g",
    home: Home = None,
    output: Output = _DOCS,
) -> None:
    """Run many times over few new messages, maintain, and compare with all of it built anew."""
    workload = Workload(size, message_bytes, keys, tables, seed=seed)
    with _session(home, driver_memory) as session:
        described = machine.description(session)
        measured = [
            upkeep.measure_upkeep(session, source_format, workload, runs, share, _tell)
            for source_format in _formats(formats)
        ]
    sections = map(report.upkeep, measured)
    _write("upkeep", "Many small runs, and maintenance", described, sections, output)
    _plot(lambda: plot.upkeep(measured, output / "upkeep.svg"))


@app.command("layout")
def layout_command(
    source_format: Annotated[str, typer.Option("--format", help="Of the messages.")] = "canal_json",
    size: Annotated[int, typer.Option(help="Number of row changes.")] = 400_000,
    message_bytes: MessageBytes = 1000,
    keys: Keys = 200_000,
    tables: Tables = 20,
    seed: Seed = 1,
    driver_memory: DriverMemory = "4g",
    home: Home = None,
    output: Output = _DOCS,
) -> None:
    """Write the log and the state in other layouts, and read them as the project does."""
    workload = Workload(size, message_bytes, keys, tables, seed=seed)
    (source_format,) = _formats(source_format)
    with _session(home, driver_memory) as session:
        described = machine.description(session)
        measured = layout.measure_layouts(session, source_format, workload, _tell)
    _write("layout", "Layouts of the tables", described, map(report.layouts, measured), output)
    _plot(lambda: plot.layouts(measured, output / "layout.svg"))


def _full_builds(
    home: Path | None,
    driver_memory: str,
    formats: Sequence[str],
    workloads: Sequence[Workload],
    repeat: int,
    warm_up: int,
    dbt_arguments: Sequence[str],
    with_rivals: bool,
) -> FullBuilds:
    builds = []
    with _session(home, driver_memory) as session:
        for source_format in formats:
            if warm_up:
                full.warm_up(session, source_format, workloads[0], warm_up, dbt_arguments)
            for workload in workloads:
                build = full.measure_full(
                    session, source_format, workload, repeat, dbt_arguments, _tell
                )
                if with_rivals:
                    add_rivals(session, build, repeat, _tell)
                builds.append(build)
                _tell("\n\n".join(report.full_builds([build])))
        return FullBuilds(machine.description(session), builds)


def _write_full(name: str, title: str, builds: FullBuilds, output: Path) -> None:
    sections = report.full_builds(builds.builds)
    _write(name, title, builds.machine, sections, output)
    _plot(lambda: plot.full_builds(builds.builds, output / f"{name}.svg"))


def _write(
    name: str, title: str, described: dict[str, str], sections: Iterable[str], output: Path
) -> None:
    output.mkdir(parents=True, exist_ok=True)
    page = output / f"{name}.md"
    text = report.document(title, described, [f"![{title}]({name}.svg)", *sections])
    page.write_text(text, "utf-8")
    _tell(f"Wrote {page}")


def _plot(draw: Callable[[], None]) -> None:
    try:
        draw()
    except ModuleNotFoundError as error:
        _tell(f"No plot: {error}; `./run --group benchmarks python -m benchmarks …` has it.")


@contextmanager
def _session(home: Path | None, driver_memory: str) -> Iterator[SparkSession]:
    try:
        with project.opened(home, driver_memory) as session:
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


def _tell(text: str) -> None:
    typer.echo(text)


def _stop(text: str) -> NoReturn:
    typer.echo(text, err=True)
    raise typer.Exit(1)
