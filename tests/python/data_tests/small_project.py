"""A small dbt project: the data tests of the project, run as dbt runs them, on other models."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.python.harness.dbt import folders, try_dbt
from tests.python.harness.manifest import ROOT
from tests.python.harness.written_project import project_settings, write_project


def run_data_tests(
    folder: Path,
    target: Mapping[str, Any],
    models: Mapping[str, str],
    tested: Sequence[Mapping[str, Any]],
    variables: Mapping[str, Any] | None = None,
) -> list[Any]:
    """The results of `dbt test` in a project that is written to `folder`.

    `models`: name -> SQL of an ephemeral model.  `tested`: models with their
    data tests, as a yml file has them.  `variables`: in place of the project's.
    """
    project = project_settings()
    settings = {
        **{key: project[key] for key in ("name", "profile", "flags")},
        "vars": {**project["vars"], **(variables or {})},
        "models": {"+materialized": "ephemeral"},
    }
    files = {f"models/{name}.sql": sql for name, sql in models.items()}
    files["models/tested.yml"] = yaml.safe_dump({"models": tested})
    write_project(folder, settings, {"local": target}, files)
    shutil.copytree(ROOT / "macros", folder / "macros")
    shutil.copytree(ROOT / "tests" / "generic", folder / "tests" / "generic")
    # Data tests that fail are what is asked for.
    ended: Any = try_dbt("test", *folders(folder))
    assert ended.exception is None, ended.exception
    return list(ended.result.results)
