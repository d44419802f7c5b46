"""The command line `cdc-marts`.

Commands import what they need when they run, so that help is quick.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from cdc_marts.cli.console import escape_what_streams_lack
from cdc_marts.cli.erase import erase
from cdc_marts.cli.landing import land_app
from cdc_marts.cli.maintain import maintain
from cdc_marts.cli.project import init, link, scaffold
from cdc_marts.cli.report import report
from cdc_marts.cli.requeue import requeue
from cdc_marts.cli.resync import resync
from cdc_marts.cli.run import run
from cdc_marts.cli.sql import sql
from cdc_marts.cli.status import status

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"cdc-marts {version('cdc-marts')}")
        raise typer.Exit


@app.callback()
def main(
    _: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Turn CDC messages of nine formats into change events and current rows."""
    escape_what_streams_lack()


app.add_typer(land_app, name="land")
for command in (run, sql, status, report, scaffold, requeue, resync, erase, maintain, init, link):
    app.command()(command)
