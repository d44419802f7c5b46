"""`cdc-marts land datahub` without the Python SDK of DataHub."""

from __future__ import annotations

import sys

import pytest

from tests.python.harness.commands import no_session, run_command


def test_the_command_says_how_to_install_the_sdk_in_the_clone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The import of a module that is None fails, as if it were not installed.
    monkeypatch.setitem(sys.modules, "datahub", None)
    monkeypatch.delitem(sys.modules, "cdc_marts.landing.datahub", raising=False)
    with no_session():
        result = run_command("land", "datahub", "--endpoint", "http://h", "--topics", "a.b")
    assert result.exit_code == 2
    assert "`./run --extra datahub cdc-marts land datahub …`" in result.stderr
