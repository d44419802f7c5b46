"""The wheels: ours holds the dbt package, and a project on it builds outside of the clone."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from cdc_marts.formats import SOURCE_FORMATS
from tests.python.project.manifest import ROOT

#: A process that takes longer hangs.
TIMEOUT = 1800
IN_WHEEL = "cdc_marts/dbt_package"

#: What a user's own job may do in that environment: open the session of a target.
LOOK = """
import json
from cdc_marts.project import spark_session

def rows(sql):
    return [row.asDict() for row in session.sql(sql).collect()]

with spark_session("demo") as session:
    print("found", json.dumps({
        "schemas": rows("show schemas"),
        "formats": rows("select distinct source_format from marts.latest_state"),
        "typed": rows(
            "select id, status, amount from marts.shop_orders where amount > 10 order by id"
        ),
        "properties": rows("show tblproperties staging.stg_datahub_tuple"),
    }, default=str))
"""


#: What is proved of the package in the clone is not proved once more.
BUILD = (
    *("build", "--target", "demo", "--no-use-colors"),
    *(
        "--exclude",
        "package:cdc_marts,resource_type:test",
        "package:cdc_marts,resource_type:unit_test",
    ),
)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Distribution -> its wheel."""
    folder = tmp_path_factory.mktemp("dist")
    run(uv(), "build", "--wheel", "--all-packages", "--out-dir", str(folder), cwd=ROOT)
    return {wheel.name.split("-")[0]: wheel for wheel in folder.glob("*.whl")}


@pytest.fixture(scope="session")
def wheel(wheels: dict[str, Path]) -> Path:
    return wheels["cdc_marts"]


def uv() -> str:
    # `uv run` says where it is.
    return os.environ.get("UV", "uv")


def run(*command: str, cwd: Path, **environment: str) -> str:
    """What a command that ends well prints, run as from a new terminal."""
    ours = ("CDC_MARTS_", "DBT_", "PYTEST_", "PYTHON", "SPARK_", "VIRTUAL_ENV")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**inherited, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout


def test_every_file_of_the_dbt_package_is_in_the_wheel(wheel: Path) -> None:
    settings = yaml.safe_load((ROOT / "dbt_project.yml").read_text("utf-8"))
    paths = [path for key, paths in settings.items() if key.endswith("-paths") for path in paths]
    listed = run("git", "ls-files", "dbt_project.yml", "profiles", *paths, cwd=ROOT).splitlines()
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
    assert set(wheels) == {"cdc_marts", "dbt_spark_session"}
    contents = {}
    for distribution, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as content:
            contents[distribution] = set(content.namelist())
    adapter = {name for name in contents["dbt_spark_session"] if name.startswith("dbt/")}
    source = ROOT / "packages" / "dbt-spark-session" / "src"
    tracked = run("git", "ls-files", "dbt", cwd=source).splitlines()
    assert adapter == set(tracked)
    assert not any(name.startswith("dbt/") for name in contents["cdc_marts"])


@pytest.mark.long
def test_a_project_on_the_installed_wheels_builds_the_demo(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    environment = tmp_path / "env"
    python, bin_folder = str(environment / "bin" / "python"), environment / "bin"
    # The versions of uv.lock, and nothing of the clone.
    sync = ("sync", "--quiet", "--frozen", "--no-dev", "--no-install-workspace")
    run(uv(), *sync, cwd=ROOT, UV_PROJECT_ENVIRONMENT=str(environment))
    run(
        uv(),
        "pip",
        "install",
        "--no-deps",
        "--python",
        python,
        *map(str, wheels.values()),
        cwd=tmp_path,
    )
    run(uv(), "pip", "check", "--python", python, cwd=tmp_path)
    command, dbt = str(bin_folder / "cdc-marts"), str(bin_folder / "dbt")
    assert run(command, "--version", cwd=tmp_path) == f"cdc-marts {version('cdc-marts')}\n"

    run(command, "init", "my_project", cwd=tmp_path)
    project = tmp_path / "my_project"
    package = (project / "dbt_packages" / "cdc_marts").resolve()
    assert package.is_relative_to(environment)
    installed = files(package)
    memory = {"CDC_MARTS_DRIVER_MEMORY": "2g"}
    built = run(dbt, *BUILD, cwd=project, **memory)
    assert "ERROR=0" in built and "PASS cdc_marts_no_cast_errors_shop_orders_" in built

    output = run(python, "-c", LOOK, cwd=project, **memory)
    (line,) = (line for line in output.splitlines() if line.startswith("found "))
    found = json.loads(line.removeprefix("found "))
    assert {row["namespace"] for row in found["schemas"]} == {
        *("landing", "seeds", "staging", "intermediate", "marts")
    }
    assert {row["source_format"] for row in found["formats"]} == set(SOURCE_FORMATS)
    assert found["typed"] == [
        {"id": 101, "status": "shipped", "amount": "129.90"},
        {"id": 9007199254740993, "status": "new", "amount": "999.99"},
    ]
    # Written by a macro of the package in place of dbt's.
    properties = {row["key"]: row["value"] for row in found["properties"]}
    assert json.loads(properties["cdc_marts.key-columns"])["shop.payments"] == [
        *("order_id", "number")
    ]
    assert files(package) == installed


def files(folder: Path) -> dict[Path, int]:
    """The files of a folder, with the times of their last change."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
