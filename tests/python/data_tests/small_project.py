"""A small dbt project: the data tests of the project, run as dbt runs them, on other models."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner

from tests.python.project.manifest import ROOT


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
    project = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))
    settings = {
        **{key: project[key] for key in ("name", "profile", "flags")},
        "vars": {**project["vars"], **(variables or {})},
        "models": {"+materialized": "ephemeral"},
    }
    profile = {"target": "local", "outputs": {"local": target}}
    _write_yaml(folder / "dbt_project.yml", settings)
    _write_yaml(folder / "profiles.yml", {project["profile"]: profile})
    shutil.copytree(ROOT / "macros", folder / "macros")
    shutil.copytree(ROOT / "tests" / "generic", folder / "tests" / "generic")
    (folder / "models").mkdir()
    for name, sql in models.items():
        (folder / "models" / f"{name}.sql").write_text(sql, "utf-8")
    _write_yaml(folder / "models" / "tested.yml", {"models": tested})
    run = dbtRunner().invoke(
        [
            *("test", "--quiet", "--project-dir", str(folder), "--profiles-dir", str(folder)),
            *("--target-path", str(folder / "target"), "--log-path", str(folder)),
        ]
    )
    assert run.exception is None
    return list(run.result.results)


def _write_yaml(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(yaml.safe_dump(content), "utf-8")
