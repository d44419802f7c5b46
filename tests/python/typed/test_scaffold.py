"""`cdc-marts scaffold`: declarations and models for the source tables seen."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import pytest
import yaml
from pyspark.sql import SparkSession
from ruamel.yaml import YAML
from typer.testing import Result

from cdc_marts.scaffold import (
    DESCRIPTIONS,
    PROJECT_FILE,
    TYPED_MARTS,
    ScaffoldError,
    TableName,
    scaffold,
)
from tests.python.harness.commands import commands_use, run_command
from tests.python.harness.manifest import ROOT

ORDERS = TableName("canal_json", "crm.orders")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of what the command reads and writes."""
    shutil.copy(ROOT / PROJECT_FILE, tmp_path)
    shutil.copytree(ROOT / "models", tmp_path / "models")
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    return tmp_path


def settings(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / PROJECT_FILE).read_text("utf-8"))


def described(root: Path) -> dict[str, Any]:
    models = yaml.safe_load((root / DESCRIPTIONS).read_text("utf-8"))["models"]
    return {model["name"]: model for model in models}


def files(root: Path) -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in root.rglob("*") if path.is_file()}


def test_a_table_gets_a_declaration_a_model_and_a_description(root: Path) -> None:
    done = scaffold(root, [ORDERS])
    assert done.declared == {"crm_orders": ORDERS}
    assert settings(root)["vars"]["tables"]["crm_orders"] == {
        "source_format": "canal_json",
        "table_id": "crm.orders",
    }
    assert (root / TYPED_MARTS / "crm_orders.sql").read_text(
        "utf-8"
    ) == "{{ cdc_marts.typed_mart() }}\n"
    entry, shipped = described(root)["crm_orders"], described(root)["shop_orders"]
    assert {**entry, "name": ""} == {**shipped, "name": ""}


def test_models_are_where_the_project_has_its_models(root: Path) -> None:
    project = root / PROJECT_FILE
    text = project.read_text("utf-8")
    paths = text.replace('["models", "python_models"]', '["dbt/models", "more"]')
    project.write_text(paths, "utf-8")
    (root / "more").mkdir()
    (root / "more" / "crm_orders.sql").write_text("select 1", "utf-8")
    done = scaffold(root, [ORDERS])
    assert done.folder == Path("dbt/models/marts/typed")
    assert done.models == ["crm_orders_canal_json"]
    assert {path.name for path in (root / done.folder).iterdir()} == {
        "crm_orders_canal_json.sql",
        "_typed__models.yml",
    }


def test_nothing_else_in_the_files_changes(root: Path) -> None:
    before = files(root)
    scaffold(root, [ORDERS])
    after = files(root)
    for path, text in before.items():
        lines = after[path].splitlines()
        for line in text.splitlines():
            lines.remove(line)
        if path.name not in (PROJECT_FILE, DESCRIPTIONS.name):
            assert lines == []
    assert (root / PROJECT_FILE).read_text("utf-8").splitlines()[:10] == (
        before[root / PROJECT_FILE].splitlines()[:10]
    )


def test_a_second_time_nothing_is_written(root: Path) -> None:
    scaffold(root, [ORDERS])
    before = files(root)
    done = scaffold(root, [ORDERS])
    assert (done.models, done.kept) == ([], {"crm_orders": ORDERS})
    assert files(root) == before


@pytest.mark.parametrize("written", ["dbt_project.yml", "_typed__models.yml"])
def test_a_full_disk_leaves_the_files_as_they_were(
    root: Path, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(root)
    replace = Path.replace

    def fail(path: Path, target: Path) -> Path:
        if target.name == written:
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(ScaffoldError, match=f"{written} can't be written: No space left"):
        scaffold(root, [ORDERS])
    after = files(root)
    assert after.keys() == before.keys()
    assert after[root / DESCRIPTIONS] == before[root / DESCRIPTIONS]


def test_a_kill_while_the_project_is_written_loses_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(root)

    def killed(_: YAML, content: object, stream: TextIO) -> None:
        stream.write("name: cut o")
        raise KeyboardInterrupt

    monkeypatch.setattr(YAML, "dump", killed)
    with pytest.raises(KeyboardInterrupt):
        scaffold(root, [ORDERS])
    assert files(root) == before


def test_a_model_that_is_there_is_never_overwritten(root: Path) -> None:
    model = root / TYPED_MARTS / "crm_orders.sql"
    model.write_text("select 1", "utf-8")
    done = scaffold(root, [ORDERS])
    assert list(done.declared) == ["crm_orders_canal_json"]
    assert model.read_text("utf-8") == "select 1"


def test_a_declaration_without_a_model_gets_one(root: Path) -> None:
    scaffold(root, [ORDERS])
    (root / TYPED_MARTS / "crm_orders.sql").unlink()
    declarations = settings(root)["vars"]["tables"]
    done = scaffold(root, [ORDERS])
    assert (done.declared, done.models) == ({}, ["crm_orders"])
    assert settings(root)["vars"]["tables"] == declarations
    assert (root / TYPED_MARTS / "crm_orders.sql").exists()
    assert list(described(root)).count("crm_orders") == 1


@pytest.mark.parametrize(
    ("table_ids", "names"),
    [
        (["crm.public.Orders"], ["crm_public_orders"]),
        (
            ["crm.orders", "CRM.ORDERS", "crm-orders"],
            ["crm_orders", "crm_orders_cdl_json", "crm_orders_cdl_json_2"],
        ),
        (["2024.sales"], ["table_2024_sales"]),
        (["店.订单"], ["table"]),
        (["change_events"], ["change_events_cdl_json"]),
    ],
)
def test_names_are_those_of_models_and_differ(
    root: Path, table_ids: list[str], names: list[str]
) -> None:
    done = scaffold(root, [TableName("cdl_json", table_id) for table_id in table_ids])
    assert list(done.declared) == names
    assert [table.table_id for table in done.declared.values()] == table_ids


@pytest.mark.parametrize(
    "table_id",
    [
        "no",
        "NO",
        "off",
        "on",
        "yes",
        "null",
        "true",
        "12:30",
        "1_000",
        "017",
        "é\x85x",
        "a: b",
        "=",
    ],
)
def test_names_are_texts_to_dbt_too(root: Path, table_id: str) -> None:
    """dbt reads YAML 1.1, in which `no` is a boolean and `12:30` a number of minutes."""
    table = TableName("canal_json", table_id)
    [name] = scaffold(root, [table]).declared
    read = settings(root)["vars"]["tables"]
    assert read[name] == {"source_format": "canal_json", "table_id": table_id}
    assert described(root)[name]["name"] == name
    assert scaffold(root, [table]).kept == {name: table}


def test_a_project_file_that_is_no_yaml_is_said(root: Path) -> None:
    (root / PROJECT_FILE).write_text("vars: [", "utf-8")
    with pytest.raises(ScaffoldError, match="can't be read"):
        scaffold(root, [ORDERS])
    assert not (root / TYPED_MARTS / "crm_orders.sql").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models:\n", "lacks the anchor `&typed_mart`.* Copy `anchors:` into it from .*yml"),
        ("models:\nanchors: [&typed_mart {}]\n", "does not end with `models:`.* Move `models:`"),
    ],
)
def test_a_file_that_takes_no_description_is_said(root: Path, text: str, message: str) -> None:
    (root / DESCRIPTIONS).write_text(text, "utf-8")
    before = files(root)
    with pytest.raises(ScaffoldError, match=f"{DESCRIPTIONS} {message}"):
        scaffold(root, [ORDERS])
    assert files(root) == before


# --- The command -------------------------------------------------------------------------------

Scaffold = Callable[[], Result]


@pytest.fixture
def command(spark: SparkSession, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scaffold]:
    """Runs `cdc-marts scaffold --target demo` in the folder `root`, over the shared session."""
    monkeypatch.chdir(root / "models")
    with commands_use(spark):
        yield partial(run_command, "scaffold", "--target", "demo")


@pytest.fixture
def source_tables(spark: SparkSession) -> Iterator[None]:
    spark.sql("create schema if not exists marts")
    spark.sql(
        "create or replace view marts.source_tables as select * from values"
        " ('canal_json', 'crm.orders'), ('canal_json', 'shop.orders')"
        " as seen (source_format, table_id)"
    )
    yield
    spark.sql("drop view marts.source_tables")


@pytest.mark.usefixtures("source_tables")
def test_the_command_says_what_it_wrote_and_left(root: Path, command: Scaffold) -> None:
    result = command()
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        "Declared 1 table in dbt_project.yml, and wrote 1 model to models/marts/typed:",
        "  crm_orders   canal_json crm.orders",
        "Kept 1 existing mart:",
        "  shop_orders  canal_json shop.orders",
        "Next: ./run dbt build --target demo",
    ]
    assert (root / TYPED_MARTS / "crm_orders.sql").exists()


def test_a_target_that_was_not_built_is_said(spark: SparkSession, command: Scaffold) -> None:
    spark.sql("drop view if exists marts.source_tables")
    result = command()
    assert result.exit_code == 1
    assert "has no marts.source_tables yet" in result.output
    assert "./run dbt build --target demo" in result.output


def test_tables_that_are_declared_and_have_models_leave_no_file_without_models(root: Path) -> None:
    """dbt refuses a file whose `models:` is empty."""
    scaffold(root, [ORDERS])
    (root / DESCRIPTIONS).unlink()
    scaffold(root, [ORDERS])
    assert not (root / DESCRIPTIONS).exists()
    scaffold(root, [ORDERS, TableName("canal_json", "crm.people")])
    assert list(described(root)) == ["crm_people"]
