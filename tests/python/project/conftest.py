"""The project as dbt reads it; no Spark session is needed for that."""

from __future__ import annotations

import json

import pytest

from tests.python.harness.dbt import folders, run_dbt
from tests.python.harness.manifest import ROOT, Node


@pytest.fixture(scope="session")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """The manifest that `dbt parse` writes, for the target that has all nodes."""
    folder = tmp_path_factory.mktemp("parsed")
    run_dbt("parse", "--target", "demo", *folders(ROOT, ROOT / "profiles", written=folder))
    return json.loads((folder / "target" / "manifest.json").read_text("utf-8"))
