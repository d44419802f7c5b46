"""`cdc-marts report`, and the page of `cdc-marts run --report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal

from cdc_marts.cli.console import FAILED, WRONG_USE, stop, tell
from cdc_marts.cli.options import on_target
from cdc_marts.cli.session import open_session
from cdc_marts.project.inventory import inventory_of
from cdc_marts.project.target import Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How many days of traffic are shown by default.
DAYS = 30


@on_target
def report(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The page to write."),
    ] = Path("cdc_marts_report.html"),
    days: Annotated[
        int,
        typer.Option(
            metavar="DAYS", min=1, help="How many days of traffic the plots over time show."
        ),
    ] = DAYS,
    *,
    target: Target,
) -> None:
    """Write one HTML page that shows the state of a target.

    The page has plots of freshness, lag, volume, rejects, operations, sizes and
    run times, each with its exact numbers. It needs no network, and fits screens
    and phones, in light and dark mode.
    """
    check_report(output)
    with open_session(target, is_reader=True) as session:
        try:
            size = write_report(session, target, output, days)
        except OSError as error:
            stop(f"The page can't be written to {output}: {error.strerror}.", FAILED)
    tell(f"Wrote {output} ({decimal(size)}). Open it in a browser.")


def check_report(output: Path) -> None:
    """End the command if the page can't be drawn, or has no folder, before Spark starts."""
    try:
        import cdc_marts.operations.report.page  # noqa: F401
    except ModuleNotFoundError as error:
        stop(
            f"The report is drawn with a library that is not installed ({error.name}):"
            " pip install 'cdc-marts[report]'",
            WRONG_USE,
        )
    if output.is_dir():
        raise typer.BadParameter(
            f"The page can't be written to {output}, which is a folder. Name a file."
        )
    if not output.parent.is_dir():
        raise typer.BadParameter(
            f"The page can't be written to {output}: its folder does not exist. Create the folder,"
            " or name a file in another one."
        )


def write_report(session: SparkSession, target: Target, output: Path, days: int = DAYS) -> int:
    """Write the page as a whole or not at all, and return its size in bytes.

    Raise `OSError` if the file can't be written.
    """
    from cdc_marts.operations.report.facts import gather
    from cdc_marts.operations.report.page import page

    text = page(gather(session, target.name, days, inventory_of(target))).encode()
    unfinished = output.with_name(f"{output.name}.part")
    unfinished.write_bytes(text)
    unfinished.replace(output)
    return len(text)
