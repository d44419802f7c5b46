"""Options that several commands take, one by one and in groups (`field_by_field`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.workload import Workload
from cdc_marts.source_formats import SOURCE_FORMATS

Formats = Annotated[
    str, typer.Option("--formats", metavar="A,B", help=f"Of {', '.join(SOURCE_FORMATS)}.")
]
Sizes = Annotated[str, typer.Option("--sizes", metavar="N,M", help="Numbers of row changes.")]
Size = Annotated[int, typer.Option(help="Number of row changes.")]
Skew = Annotated[bool, typer.Option("--skew", help="80 % of the changes are of one row.")]
Repeat = Annotated[int, typer.Option(min=1, help="Measurements of each thing.")]
WarmUp = Annotated[int, typer.Option(help="Changes in each build that warms up, 0 for none.")]
Select = Annotated[
    str | None, typer.Option(metavar="SELECTION", help="Passed on to `dbt run`: all models if not.")
]
ALL_FORMATS = ",".join(SOURCE_FORMATS)


@dataclass(frozen=True)
class Drawn:
    """Options for how changes are drawn."""

    message_bytes: Annotated[int, typer.Option(help="Mean size of a message.")] = 1000
    keys: Annotated[
        int, typer.Option(min=0, help="Rows that are changed; 0: by --changes-per-row.")
    ] = 50_000
    changes_per_row: Annotated[
        int, typer.Option(min=1, help="With --keys 0: changes of each row.")
    ] = 1
    tables: Annotated[int, typer.Option(min=1, max=200, help="Tables that the rows are in.")] = 1
    update_share: Annotated[
        float,
        typer.Option(min=0, max=1, help="Updates among the changes of rows that are there."),
    ] = 0.8
    seed: Annotated[int, typer.Option(help="Other changes.")] = 1

    def workload(self, changes: int, skewed: bool = False) -> Workload:
        return Workload(
            changes,
            self.message_bytes,
            self.keys or changes // self.changes_per_row,
            self.tables,
            self.update_share,
            skewed,
            seed=self.seed,
        )


@dataclass(frozen=True)
class Setup:
    """Options for the session and the place of the report."""

    driver_memory: Annotated[str, typer.Option(help="Memory of the JVM.")] = "4g"
    home: Annotated[
        Path | None,
        typer.Option(help="Folder of the warehouse, which is kept; else one that is removed."),
    ] = None
    output: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("docs/benchmarks")


def formats_of(names: str) -> list[str]:
    """Return the formats of an option `Formats`."""
    formats = names.split(",")
    for name in formats:
        if name not in SOURCE_FORMATS:
            raise typer.BadParameter(f"There is no format {name}: {', '.join(SOURCE_FORMATS)}.")
    return formats


def numbers_of(texts: str) -> list[int]:
    """Return the numbers of an option like `Sizes`."""
    try:
        return [int(text) for text in texts.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{texts} is not a list of numbers with commas.") from None


def selection_of(select: str | None) -> Sequence[str]:
    """Return the arguments of `dbt run` for an option `Select`."""
    return () if select is None else ("--select", select)
