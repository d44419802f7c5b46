"""The output of commands, and their exit codes."""

from __future__ import annotations

import io
import sys
from typing import NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TimeRemainingColumn

from cdc_marts.printing import printable_lines

FAILED = 1
WRONG_USE = 2
INTERRUPTED = 130

output = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def escape_what_streams_lack() -> None:
    """Let stdout and stderr escape characters that their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def tell(text: str) -> None:
    output.print(printable_lines(text))


def say(text: str) -> None:
    """Print a text on stderr, beside the progress bar."""
    errors.print(printable_lines(text))


def stop(text: str, code: int) -> NoReturn:
    say(text)
    raise typer.Exit(code)


def confirm_or_stop(question: str, otherwise: str) -> None:
    """Ask a question; stop the command, and print `otherwise`, if the answer is not yes."""
    try:
        is_confirmed = typer.confirm(question)
    except typer.Abort:  # also if there is no terminal to answer from
        typer.echo()
        is_confirmed = False
    if not is_confirmed:
        stop(otherwise, FAILED)


def progress_bar(count: ProgressColumn) -> Progress:
    """Return a bar that shows in `count` how much is done."""
    return Progress(
        SpinnerColumn(),
        BarColumn(),
        count,
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )
