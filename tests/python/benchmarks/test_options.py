"""Options that commands have in common."""

from __future__ import annotations

import typer
from click.testing import Result
from typer.testing import CliRunner

from benchmarks.options import Drawn
from benchmarks.workload import Workload
from cdc_marts.cli.options import field_by_field

MANY_TABLES = Drawn(tables=20)


def drawn_by(*arguments: str) -> tuple[Result, list[Workload]]:
    """What a command with a group of options answers, and the workloads that it draws."""
    workloads: list[Workload] = []
    app = typer.Typer()

    @app.command()
    @field_by_field
    def draw(size: int = 300, drawn: Drawn = MANY_TABLES) -> None:
        workloads.append(drawn.workload(size))

    return CliRunner().invoke(app, arguments), workloads


def test_a_group_has_the_defaults_of_its_command() -> None:
    assert drawn_by()[1] == [Workload(300, tables=20)]


def test_each_field_of_a_group_is_an_option() -> None:
    options = ("--size", "7", "--message-bytes", "300", "--tables", "2", "--seed", "5")
    assert drawn_by(*options)[1] == [Workload(7, message_bytes=300, tables=2, seed=5)]


def test_a_field_has_the_bounds_of_its_option() -> None:
    answer, workloads = drawn_by("--tables", "201")
    assert answer.exit_code == 2
    assert "--tables" in answer.output
    assert not workloads
