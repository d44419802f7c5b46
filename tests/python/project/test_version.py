"""The command says which version it is."""

from __future__ import annotations

from importlib.metadata import version

from typer.testing import CliRunner

from cdc_marts.cli import app


def test_the_command_prints_its_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"cdc-marts {version('cdc-marts')}\n")
