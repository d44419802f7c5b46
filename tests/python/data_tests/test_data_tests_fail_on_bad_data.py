"""Every data test of the project finds what it is there to find, and nothing else.

The tests run, as dbt runs them, in a small project of their own: the project's
macros and tests, over the rows of `proofs.py`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession

from tests.python.data_tests.proofs import MODELS, PROOFS, Proof, Rows
from tests.python.data_tests.small_project import run_data_tests
from tests.python.harness.manifest import Node, nodes_of

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
    results = run_data_tests(folder, spark_target, *models_and_tests())
    return {r.node.name: Outcome(str(r.status), r.failures) for r in results}


def models_and_tests() -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Ephemeral models, each with one data test, which is named like it."""
    models, tested = dict(MODELS), []
    for name, test, proof, with_faults in cases():
        arguments: dict[str, Any] = {}
        models[name] = proof.model.sql(with_faults)
        for argument, value in proof.arguments.items():
            arguments[argument] = value
            if isinstance(value, Rows):
                read = f"{name}_{argument}"
                models[read] = value.sql(with_faults)
                arguments[argument] = f"ref('{read}')"
        tested.append(
            {"name": name, "data_tests": [{test: {"name": name, "arguments": arguments}}]}
        )
    return models, tested


def cases() -> Iterator[tuple[str, str, Proof, bool]]:
    for test, proof in PROOFS.items():
        yield f"{test}_on_good_data", test, proof, False
        yield f"{test}_on_bad_data", test, proof, True


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


def test_a_proof_has_no_columns_that_the_models_lack(manifest: Node, spark: SparkSession) -> None:
    """Otherwise a data test could pass here, and read a column that its model does not have."""
    columns_of = {node["name"]: set(node["columns"]) for node in nodes_of(manifest, "model")}
    had: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for node in nodes_of(manifest, "test"):
        if tested := node.get("test_metadata"):
            for argument, value in tested["kwargs"].items():
                for name in re.findall(r"ref\('(\w+)'\)", str(value)):
                    had[tested["name"], argument] |= columns_of.get(name, set())
    assert had["full_loads_outlive_truncations", "truncations"] == columns_of["int_truncations"]
    invented = {
        (test, argument): sorted(set(spark.sql(rows.sql(True)).columns) - had[test, argument])
        for test, proof in PROOFS.items()
        for argument, rows in {"model": proof.model, **proof.arguments}.items()
        if isinstance(rows, Rows) and had[test, argument]
    }
    assert {key: names for key, names in invented.items() if names} == {}
