"""`python -m benchmarks`: the project's models, measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from pyspark.sql import SparkSession

from benchmarks import full, machine, project, report
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
Changes = Annotated[str, typer.Option("--sizes", metavar="N,M", help="Numbers of row changes.")]
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
Home = Annotated[
    Path | None,
    typer.Option(help="Folder of the warehouse, which is kept; else one that is removed."),
]
Output = Annotated[Path, typer.Option(help="Folder of the report.")]

_DOCS = Path("docs/benchmarks")


@app.command("full")
def full_command(
    formats: Formats = ",".join(SOURCE_FORMATS),
    sizes: Changes = "400000",
    message_bytes: MessageBytes = 1000,
    keys: Keys = 50_000,
    tables: Tables = 1,
    update_share: UpdateShare = 0.8,
    skew: Skew = False,
    seed: Seed = 1,
    repeat: Repeat = 5,
    warm_up: WarmUp = 20_000,
    select: Select = None,
    driver_memory: DriverMemory = "4g",
    home: Home = None,
    output: Output = _DOCS,
) -> None:
    """Build everything from landed messages, and the floor from the same ones.

    Also staging alone, and latest_state rebuilt from staging.
    """
    arguments = _selection(select)
    builds = []
    with _session(home, driver_memory) as session:
        for source_format in _formats(formats):
            for changes in _sizes(sizes):
                workload = Workload(changes, message_bytes, keys, tables, update_share, skew, seed)
                if warm_up:
                    full.warm_up(session, source_format, workload, warm_up, arguments)
                builds.append(
                    full.measure_full(session, source_format, workload, repeat, arguments, _tell)
                )
                _tell("\n\n".join(report.full_builds(builds[-1:])))
        described = machine.description(session)
    _write(
        output / "full.md",
        report.document("The models against the floor", described, report.full_builds(builds)),
    )
    report.plot(builds, output / "full.svg")


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


def _sizes(numbers: str) -> list[int]:
    try:
        return [int(number) for number in numbers.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{numbers} are no numbers with commas between.") from None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    _tell(f"Wrote {path}")


def _tell(text: str) -> None:
    typer.echo(text)


def _stop(text: str) -> NoReturn:
    typer.echo(text, err=True)
    raise typer.Exit(1)
