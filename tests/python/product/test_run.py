"""`./run --help`: the project's own help, without uv or dbt."""

from __future__ import annotations

import subprocess

import pytest

from tests.python.harness.manifest import ROOT


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_each_way_to_run(option: str) -> None:
    # Where uv is not on the PATH, anything else would install it.
    shown = subprocess.run(
        [ROOT / "run", option],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    ways = [line.split("  ")[0] for line in shown.stdout.splitlines() if line.startswith("./run ")]
    assert ways == [
        *("./run build", "./run test", "./run docs"),
        *("./run cdc-marts COMMAND", "./run dbt COMMAND", "./run COMMAND"),
    ]
    assert shown.stderr == ""
