"""A dbt project that a test writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.python.harness.manifest import ROOT


def project_settings() -> dict[str, Any]:
    """Return the settings in `dbt_project.yml` of this repository."""
    settings: dict[str, Any] = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))
    return settings


def write_project(
    folder: Path,
    settings: Mapping[str, Any],
    targets: Mapping[str, Mapping[str, Any]],
    files: Mapping[str, str],
    profiles: Path | None = None,
) -> None:
    """Write a project to a folder. It runs on the first of its targets.

    `profiles`: another folder for the targets. `files`: path in the project -> text.
    """
    profile = {"target": next(iter(targets)), "outputs": dict(targets)}
    texts = {
        folder / "dbt_project.yml": yaml.safe_dump(dict(settings)),
        (profiles or folder) / "profiles.yml": yaml.safe_dump({settings["profile"]: profile}),
        **{folder / name: text for name, text in files.items()},
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
