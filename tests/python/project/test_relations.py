"""The names that commands have for the tables of a target are dbt's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from cdc_marts.project.inventory import relations_of
from cdc_marts.project.target import PROJECT_FILE, ProjectError, Target, find_root
from cdc_marts.relations import OWN
from tests.python.harness.copied_project import copy_with_typed_marts
from tests.python.harness.manifest import Node, nodes_of


def test_in_its_own_project_the_package_has_the_names_of_its_models(manifest: Node) -> None:
    for model in nodes_of(manifest, "model"):
        assert OWN.model(model["name"]) == f"{model['schema']}.{model['alias']}"
    for source in nodes_of(manifest, "source"):
        assert OWN.landed(source["name"]) == f"{source['schema']}.{source['identifier']}"
    for seed in nodes_of(manifest, "seed"):
        assert seed["schema"] == OWN.seeds
    schemas = {
        node["schema"] for kind in ("model", "seed", "source") for node in nodes_of(manifest, kind)
    }
    assert set(OWN.schemas) == schemas


def test_the_commands_land_in_the_schema_that_the_models_read(tmp_path: Path) -> None:
    target = Target("local", copy_with_typed_marts(tmp_path), tmp_path / "profiles")
    assert relations_of(target) is OWN
    write_variables(tmp_path, landing_schema="raw")
    assert relations_of(target).landed("canal_json") == "raw.canal_json"
    write_variables(tmp_path, landing_schema=None, cdc_marts={"landing_schema": "raw"})
    assert relations_of(target).landed("canal_json") == "raw.canal_json"


def test_a_project_with_an_empty_profile_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / PROJECT_FILE).write_text("name: adapter\nprofile:\n", "utf-8")
    with pytest.raises(ProjectError, match="names no profile"):
        assert Target("local", tmp_path, tmp_path).profile
    monkeypatch.delenv("DBT_PROJECT_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectError, match="names no profile"):
        find_root()


def write_variables(root: Path, **variables: Any) -> None:
    settings = yaml.safe_load((root / PROJECT_FILE).read_text("utf-8"))
    settings["vars"] |= variables
    (root / PROJECT_FILE).write_text(yaml.safe_dump(settings), "utf-8")
