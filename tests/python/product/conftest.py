"""The wheels of the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.harness.manifest import ROOT
from tests.python.harness.processes import finished
from tests.python.product.environments import uv


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Distribution -> its wheel."""
    folder = tmp_path_factory.mktemp("dist")
    finished(uv(), "build", "--wheel", "--all-packages", "--out-dir", folder, cwd=ROOT)
    return {wheel.name.split("-")[0]: wheel for wheel in folder.glob("*.whl")}
