"""A copy of the project, to which a test adds models."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from cdc_marts.project.target import PROJECT_FILE, TYPED_MARTS
from cdc_marts.scaffold import DESCRIPTIONS
from tests.python.harness.manifest import ROOT
from tests.python.harness.written_project import project_settings

_FOLDERS = ("macros", "models", "profiles", "python_models", "seeds", "tests/generic")


def copy_without_tables(folder: Path) -> Path:
    """Copy the project to a folder, without declared tables, as somebody starts with it."""
    settings = _copy(folder)
    settings["vars"]["tables"] = {}
    (folder / PROJECT_FILE).write_text(yaml.safe_dump(settings), "utf-8")
    for model in (folder / TYPED_MARTS).glob("*.sql"):
        model.unlink()
    descriptions = folder / DESCRIPTIONS
    descriptions.write_text(
        descriptions.read_text("utf-8").split("models:")[0] + "models:\n", "utf-8"
    )
    return folder


def copy_with_typed_marts(folder: Path) -> Path:
    """Copy the project to a folder, with the typed marts of the samples on every target."""
    (folder / PROJECT_FILE).write_text(yaml.safe_dump(_copy(folder)), "utf-8")
    return folder


def add_typed_marts(folder: Path, names: Iterable[str]) -> None:
    """Add a model for each table that the var `tables` declares by one of these names."""
    with (folder / DESCRIPTIONS).open("a", encoding="utf-8") as descriptions:
        for name in names:
            (folder / TYPED_MARTS / f"{name}.sql").write_text("{{ typed_mart() }}\n", "utf-8")
            descriptions.write(f"  - name: {name}\n")


def _copy(folder: Path) -> dict[str, Any]:
    """Copy the files that dbt reads. Return the settings, without those of the typed marts."""
    for name in _FOLDERS:
        shutil.copytree(ROOT / name, folder / name)
    settings = project_settings()
    del settings["models"]["cdc_marts"]["marts"]["typed"]
    return settings
