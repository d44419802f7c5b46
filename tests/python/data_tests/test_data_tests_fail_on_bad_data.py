"""Every data test of the project finds what it is there to find, and nothing else.

The tests run, as dbt runs them, in a small project of their own: the project's
macros and tests, over the rows of `proofs.py`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from tests.python.data_tests.proofs import MODELS, PROOFS, Proof, Rows
from tests.python.project.manifest import ROOT, Node, nodes_of

#: dbt's own tests, and dbt's own to prove.
OF_DBT = {"accepted_values", "not_null", "relationships", "unique"}


class Outcome(NamedTuple):
    status: str
    failures: int


@pytest.fixture(scope="module")
def outcomes(
    spark: SparkSession, spark_target: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Outcome]:
    """What every test says of its good data and of its bad data."""
    folder = tmp_path_factory.mktemp("proofs")
    write_project(folder, spark_target)
    run = dbtRunner().invoke(
        [
            *("test", "--quiet", "--project-dir", str(folder), "--profiles-dir", str(folder)),
            *("--target-path", str(folder / "target"), "--log-path", str(folder)),
        ]
    )
    assert run.exception is None
    return {r.node.name: Outcome(str(r.status), r.failures) for r in run.result.results}


def write_project(folder: Path, target: dict[str, Any]) -> None:
    """A dbt project of ephemeral models, each with one data test, which is named like it."""
    project = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))
    settings = {
        **{key: project[key] for key in ("name", "profile", "flags", "vars")},
        "models": {"+materialized": "ephemeral"},
    }
    profile = {"target": "local", "outputs": {"local": target}}
    write_yaml(folder / "dbt_project.yml", settings)
    write_yaml(folder / "profiles.yml", {project["profile"]: profile})
    shutil.copytree(ROOT / "macros", folder / "macros")
    shutil.copytree(ROOT / "tests" / "generic", folder / "tests" / "generic")

    models = folder / "models"
    models.mkdir()
    for name, sql in MODELS.items():
        (models / f"{name}.sql").write_text(sql, "utf-8")
    tested = []
    for name, test, proof, with_faults in cases():
        arguments: dict[str, Any] = {}
        (models / f"{name}.sql").write_text(proof.model.sql(with_faults), "utf-8")
        for argument, value in proof.arguments.items():
            arguments[argument] = value
            if isinstance(value, Rows):
                read = f"{name}_{argument}"
                (models / f"{read}.sql").write_text(value.sql(with_faults), "utf-8")
                arguments[argument] = f"ref('{read}')"
        tested.append(
            {"name": name, "data_tests": [{test: {"name": name, "arguments": arguments}}]}
        )
    write_yaml(models / "tested.yml", {"models": tested})


def cases() -> Iterator[tuple[str, str, Proof, bool]]:
    for test, proof in PROOFS.items():
        yield f"{test}_on_good_data", test, proof, False
        yield f"{test}_on_bad_data", test, proof, True


def write_yaml(path: Path, content: dict[str, Any]) -> None:
    path.write_text(yaml.safe_dump(content), "utf-8")


@pytest.mark.parametrize("test", PROOFS)
def test_good_data_passes(outcomes: dict[str, Outcome], test: str) -> None:
    assert outcomes[f"{test}_on_good_data"] == ("pass", 0)


@pytest.mark.parametrize("test", PROOFS)
def test_each_fault_in_bad_data_is_found(outcomes: dict[str, Outcome], test: str) -> None:
    proof = PROOFS[test]
    assert proof.faults > 0
    assert outcomes[f"{test}_on_bad_data"] == (proof.outcome, proof.faults)


def test_every_data_test_of_the_project_has_a_proof(manifest: Node) -> None:
    """A singular test has none: make it a generic one."""
    used = {
        (node.get("test_metadata") or {"name": node["name"]})["name"]
        for node in nodes_of(manifest, "test")
    }
    assert used - OF_DBT == set(PROOFS)
