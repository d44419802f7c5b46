"""The modules that start first."""

from __future__ import annotations

import pytest

from tests.python.harness.manifest import ROOT


def test_the_modules_that_start_first_exist(pytestconfig: pytest.Config) -> None:
    plugins = pytestconfig.pluginmanager.get_plugins()
    [listed] = [plugin.LONGEST for plugin in plugins if hasattr(plugin, "LONGEST")]
    assert [path for path in listed if not (ROOT / path).exists()] == []
