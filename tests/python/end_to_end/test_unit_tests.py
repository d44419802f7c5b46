"""dbt's unit tests of the models, which `./run build` leaves out."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection

import pytest
from dbt.cli.main import dbtRunnerResult

from cdc_marts.project.dbt_commands import failures_of
from tests.python.end_to_end.compiled_sql import sql_of_models, sql_of_unit_tests
from tests.python.harness.dbt import try_dbt
from tests.python.harness.project import Landed, Project
from tests.python.samples.files import samples

#: The formats that the unit test of `int_message_counts` is given. With rows of both, all unions of
#: staging records differ.
FORMATS = ("lindorm_debezium", "canal_json")
#: A model whose SQL depends on a setting is compiled with and without it.
OTHER_SETTINGS = ("--vars", json.dumps({"merge_equal_versions": True}))


@pytest.fixture(scope="module")
def first_build(project: Project) -> dbtRunnerResult:
    """The result of a first build with its unit tests."""
    _land(project, 0)
    return try_dbt("build", "--exclude-resource-type", "test", *project.options())


@pytest.fixture(scope="module")
def sql_of_tests(first_build: dbtRunnerResult) -> dict[str, dict[str, str]]:
    """Model -> unit test -> the SQL that it compiles."""
    assert first_build.success, failures_of(first_build)
    return sql_of_unit_tests(first_build.result.results)


@pytest.fixture(scope="module")
def sql_of_runs(project: Project, first_build: dbtRunnerResult) -> dict[str, set[str]]:
    """Model -> the SQL of the first run, and that of a later run with other settings.

    In the later run, the staging models have rows that the models behind them have not read.
    """
    _land(project, 1)
    project.dbt("run", "--select", *(f"stg_{source_format}" for source_format in FORMATS))
    later_run = project.dbt("compile", *OTHER_SETTINGS)
    manifest = project.dbt("parse", *OTHER_SETTINGS).writable_manifest().to_dict()
    first_sql, later_sql = (
        sql_of_models(run.results, manifest) for run in (first_build.result, later_run)
    )
    return {model: {first_sql[model], later_sql[model]} for model in first_sql}


def test_the_unit_tests_of_the_models_pass_in_a_first_build(first_build: dbtRunnerResult) -> None:
    assert first_build.success, failures_of(first_build)


@pytest.mark.usefixtures("first_build")
def test_the_unit_tests_of_the_history_pass_with_other_settings(project: Project) -> None:
    project.dbt("test", "--select", "row_history,test_type:unit", *OTHER_SETTINGS)


def test_a_unit_test_compiles_the_sql_of_a_run(
    sql_of_tests: dict[str, dict[str, str]], sql_of_runs: dict[str, set[str]]
) -> None:
    assert sql_of_tests
    differing = {
        name: _nearest_difference(sql, sql_of_runs[model])
        for model, tests in sql_of_tests.items()
        for name, sql in tests.items()
        if sql not in sql_of_runs[model]
    }
    assert not differing, "\n\n".join(f"{name}:\n{lines}" for name, lines in differing.items())


def test_each_branch_of_a_model_with_unit_tests_has_one(
    sql_of_tests: dict[str, dict[str, str]], sql_of_runs: dict[str, set[str]]
) -> None:
    """The branches of a first run and of a later run (`is_incremental()`), or of a setting."""
    untested = {
        model: _nearest_difference(sql, tests.values())
        for model, tests in sql_of_tests.items()
        for sql in sql_of_runs[model] - set(tests.values())
    }
    assert not untested, "\n\n".join(f"{model}:\n{lines}" for model, lines in untested.items())


def _land(project: Project, number: int) -> None:
    """Land one of the sample messages of each format."""
    for source_format in FORMATS:
        m = samples(source_format)[number]
        project.land(source_format, [Landed(m.topic, m.offset, m.value, m.key, m.partition)])


def _nearest_difference(sql: str, others: Collection[str]) -> str:
    """Return the lines in which a query differs from the most similar of others."""
    lines = sql.splitlines()
    differences = (
        list(difflib.unified_diff(other.splitlines(), lines, lineterm="", n=1)) for other in others
    )
    return "\n".join(min(differences, key=len))
