"""The wheels: ours holds the dbt package, and a project on it builds outside of the clone."""

from __future__ import annotations

import csv
import json
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.harness.manifest import ROOT
from tests.python.harness.processes import finished
from tests.python.harness.written_project import project_settings
from tests.python.product.environments import Environment

#: What users install.  Profiles are measured in a clone.
INSTALLED = ("dbt_spark_session", "cdc_marts")
IN_WHEEL = "cdc_marts/dbt_package"

#: What is proved of the package in the clone is not proved once more.
BUILD = (
    *("build", "--target", "demo", "--no-use-colors"),
    *("--exclude", "package:cdc_marts,resource_type:test"),
)
MEMORY = {"CDC_MARTS_DRIVER_MEMORY": "2g"}


@pytest.fixture(scope="session")
def wheel(wheels: dict[str, Path]) -> Path:
    return wheels["cdc_marts"]


def test_every_file_of_the_dbt_package_is_in_the_wheel(wheel: Path) -> None:
    settings = project_settings()
    paths = [path for key, paths in settings.items() if key.endswith("-paths") for path in paths]
    listed = _tracked("dbt_project.yml", "profiles", *paths, folder=ROOT)
    # pytest's part of `tests` is none of dbt's, as .dbtignore says.
    wanted = {path for path in listed if not path.startswith(("tests/python/", "tests/__init__"))}
    assert {"dbt_project.yml", "models/marts/latest_state.sql"} <= wanted
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
        held = {name.removeprefix(f"{IN_WHEEL}/") for name in names if name.startswith(IN_WHEEL)}
        assert held == {*wanted, ".dbtignore"}
        for path in wanted:
            assert content.read(f"{IN_WHEEL}/{path}") == (ROOT / path).read_bytes(), path


def test_the_adapter_is_in_a_wheel_of_its_own(wheels: dict[str, Path]) -> None:
    assert set(wheels) == {*INSTALLED, "cdc_marts_profiling"}
    contents = {}
    for distribution, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as content:
            contents[distribution] = set(content.namelist())
    adapter = {name for name in contents["dbt_spark_session"] if name.startswith("dbt/")}
    source = ROOT / "packages" / "dbt-spark-session" / "src"
    tracked = _tracked("dbt", folder=source)
    assert adapter == set(tracked)
    assert not any(name.startswith("dbt/") for name in contents["cdc_marts"])


@pytest.mark.long
def test_a_project_on_the_installed_wheels_builds_the_demo(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    environment = Environment.with_wheels(tmp_path, *(wheels[name] for name in INSTALLED))
    version_line = environment.run("cdc-marts", "--version")
    assert version_line == f"cdc-marts {version('cdc-marts')}\n"

    environment.run("cdc-marts", "init", "my_project")
    project = tmp_path / "my_project"
    package = (project / "dbt_packages" / "cdc_marts").resolve()
    assert package.is_relative_to(environment.folder)
    installed = files(package)
    built = environment.run("dbt", *BUILD, cwd=project, **MEMORY)
    assert "ERROR=0" in built and "PASS cdc_marts_no_cast_errors_shop_orders_" in built
    assert "unit_test" not in built

    def rows(query: str) -> list[dict[str, str]]:
        options = ("--target", "demo", "--format", "csv", "--output", str(tmp_path / "rows.csv"))
        environment.run("cdc-marts", "sql", *options, query, cwd=project, **MEMORY)
        with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as found:
            return list(csv.DictReader(found))

    formats = rows("select distinct source_format from marts.latest_state")
    assert {row["source_format"] for row in formats} == set(SOURCE_FORMATS)
    assert rows(
        "select id, status, amount from marts.shop_orders where amount > 10 order by id"
    ) == [
        {"id": "101", "status": "shipped", "amount": "129.90"},
        {"id": "9007199254740993", "status": "new", "amount": "999.99"},
    ]
    # Written by a macro of the package in place of dbt's.
    [keys] = rows("show tblproperties staging.stg_datahub_tuple ('cdc_marts.key-columns')")
    assert json.loads(keys["value"])["shop.payments"] == ["order_id", "number"]
    assert files(package) == installed


def files(folder: Path) -> dict[Path, int]:
    """The files of a folder, with the times of their last change."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def _tracked(*paths: str, folder: Path) -> list[str]:
    """The files of paths in a folder that git has."""
    return finished("git", "ls-files", *paths, cwd=folder).stdout.splitlines()
