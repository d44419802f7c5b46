"""The session and the output of commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from pyspark.sql import SparkSession

from benchmarks import project
from benchmarks.options import Setup


def say(text: str) -> None:
    typer.echo(text)


@contextmanager
def opened(setup: Setup) -> Iterator[SparkSession]:
    """Yield the session of a command. A failed run of dbt ends the command with dbt's reasons."""
    try:
        with project.opened(setup.home, setup.driver_memory) as session:
            yield session
    except project.BenchmarkError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
