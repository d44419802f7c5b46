"""The project as dbt reads it; no Spark session is needed for that."""

from __future__ import annotations

import json

import pytest
from dbt.cli.main import dbtRunner

from tests.python.project.manifest import ROOT, Node


@pytest.fixture(scope="session")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """The manifest that `dbt parse` writes, for the target that has all nodes."""
    folder = tmp_path_factory.mktemp("parsed")
    parsed = dbtRunner().invoke(
        [
            *("parse", "--target", "demo", "--quiet", "--project-dir", str(ROOT)),
            *("--profiles-dir", str(ROOT / "profiles")),
            *("--target-path", str(folder), "--log-path", str(folder)),
        ]
    )
    assert parsed.success, parsed.exception
    return json.loads((folder / "manifest.json").read_text("utf-8"))
