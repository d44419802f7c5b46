"""The command says which version it is."""

from __future__ import annotations

from importlib.metadata import version

from tests.python.harness.commands import run_command


def test_the_command_prints_its_version() -> None:
    result = run_command("--version")
    assert (result.exit_code, result.output) == (0, f"cdc-marts {version('cdc-marts')}\n")
