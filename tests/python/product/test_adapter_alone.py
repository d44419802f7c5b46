"""The adapter's wheel without cdc_marts: a project with the profile of its README."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.python.harness.manifest import ROOT
from tests.python.product.environments import Environment

pytestmark = pytest.mark.long

README = ROOT / "packages" / "dbt-spark-session" / "README.md"

FILES = {
    "dbt_project.yml": "name: shop\nprofile: shop\nflags: {send_anonymous_usage_stats: false}\n",
    "models/orders.sql": """
{{ config(materialized='incremental', incremental_strategy='append') }}
select id + 10 * {{ var('day') }} as id, '{{ var('day') }}' as day from range(1, 4)
""",
    "models/counts.sql": """
{{ config(materialized='incremental', incremental_strategy='append') }}
select day, count(*) as orders from {{ new_rows(ref('orders')) }} group by day
""",
    "models/large_ids.sql": "select id from {{ ref('orders') }} where id > 21\n",
    "models/totals.sql": """
{{ config(materialized='table') }}
select count(*) as orders from {{ ref('large_ids') }}
""",
    "models/doubled.py": """
def model(dbt, session):
    dbt.config(materialized="table")
    return dbt.ref("large_ids").selectExpr("id * 2 as id")
""",
}

#: A program that uses the adapter's public module, as the README says.
LOOK = """
import importlib.util, json, sys
import yaml
from dbt.adapters.spark_session.api import SparkSessionCredentials, close_session

with open("profiles.yml") as profiles:
    target = yaml.safe_load(profiles)["shop"]["outputs"]["dev"]
session = SparkSessionCredentials.from_dict({"database": None, **target}).session()
rows = {
    name: sorted(list(row) for row in session.table(f"dev.{name}").collect())
    for name in sys.argv[1:]
}
close_session()
has_cdc_marts = importlib.util.find_spec("cdc_marts") is not None
print("found", json.dumps({"rows": rows, "has_cdc_marts": has_cdc_marts}))
"""


@pytest.fixture(scope="module")
def environment(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("adapter")
    return Environment.with_wheels(folder, wheels["dbt_spark_session"])


def test_it_builds_a_project(environment: Environment, tmp_path: Path) -> None:
    project = _write_project(tmp_path / "shop")
    for day in (1, 2):
        variables = json.dumps({"day": day})
        built = environment.run("dbt", "run", "--no-use-colors", "--vars", variables, cwd=project)
        assert "PASS=5 WARN=0 ERROR=0" in built

    found = _look(environment, project, "orders", "counts", "large_ids", "totals", "doubled")
    assert found["rows"] == {
        "orders": [[11, "1"], [12, "1"], [13, "1"], [21, "2"], [22, "2"], [23, "2"]],
        "counts": [["1", 3], ["2", 3]],
        "large_ids": [[22], [23]],
        "totals": [[2]],
        "doubled": [[44], [46]],
    }
    assert not found["has_cdc_marts"]


def test_its_tests_need_nothing_else(environment: Environment) -> None:
    """Some of them; what dbt gives for tests of adapters comes along."""
    environment.install("pytest", f"dbt-tests-adapter=={version('dbt-tests-adapter')}")
    tests = ("tests/test_materializations.py", "tests/test_rewrites.py")
    options = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    passed = environment.run("python", *options, *tests, cwd=README.parent)
    assert " passed" in passed


def _write_project(folder: Path) -> Path:
    [profile] = re.findall(
        r"^```yaml\n# profiles.yml\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    for name, text in {**FILES, "profiles.yml": profile}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def _look(environment: Environment, project: Path, *tables: str) -> dict[str, Any]:
    output = environment.run("python", "-c", LOOK, *tables, cwd=project)
    [line] = (line for line in output.splitlines() if line.startswith("found "))
    return json.loads(line.removeprefix("found "))
