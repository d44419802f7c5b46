"""cdc_marts as a package of a dbt project that has models, schemas and hooks of its own."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.project.inventory import inventory_of
from cdc_marts.project.target import Target
from tests.python.harness.manifest import ROOT
from tests.python.product.foreign_project import NAME, SETTINGS, ForeignProject

pytestmark = pytest.mark.long

#: Settings without `tables` directly under `vars`, and the error message that they cause.
WITHOUT_ROOT_TABLES = [
    pytest.param(
        {name: value for name, value in SETTINGS.items() if name != "vars"},
        "add `tables` to `vars` of dbt_project.yml, `tables: {}` for none",
        id="missing",
    ),
    pytest.param(
        {**SETTINGS, "vars": {"cdc_marts": SETTINGS["vars"]}},
        "declares `tables` under `vars: cdc_marts` of dbt_project.yml: move it directly under"
        " `vars`",
        id="scoped",
    ),
]

LAYERS = ("intermediate", "landing", "marts", "seeds", "staging")


@pytest.fixture(scope="module")
def project(
    spark: SparkSession, spark_target: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ForeignProject]:
    project = ForeignProject.write(tmp_path_factory.mktemp("foreign"), spark, spark_target)
    project.dbt("deps")
    spark.sql("drop table if exists marts.latest_state purge")
    yield project
    for schema in (
        "marts",
        *(f"{target}_{layer}" for target in ("dev", "prod") for layer in LAYERS),
    ):
        project.drop(schema)


@pytest.fixture(scope="module")
def dev(project: ForeignProject, tmp_path_factory: pytest.TempPathFactory) -> ForeignProject:
    """The project after two runs on `dev`, each with new messages."""
    folder = tmp_path_factory.mktemp("messages")
    for messages in (ORDERS[:3], ORDERS[3:]):
        land(project, "dev", messages, folder / "messages.jsonl")
        project.dbt("run", "--target", "dev")
    return project


def land(project: ForeignProject, target: str, messages: list[Any], path: Path) -> None:
    path.write_text("".join(json.dumps(message) + "\n" for message in messages), "utf-8")
    options = ("--format", "canal_json", "--topic", "shop")
    landed = project.command(target, "land", "files", *options, str(path))
    assert landed.exit_code == 0, landed.output
    assert f"in {target}_landing.canal_json (target {target})" in landed.output


def change(type_: str, id_: int, status: str | None, amount: str = "1.50") -> dict[str, Any]:
    """A Canal message of one order."""
    return {
        "database": "shop",
        "table": "orders",
        "type": type_,
        "isDdl": False,
        "pkNames": ["id"],
        "es": 1760000000000 + id_,
        "ts": 1760000001000,
        "id": 1,
        "sql": "",
        "old": None,
        "mysqlType": {"id": "bigint", "status": "varchar(9)", "amount": "decimal(10,2)"},
        "sqlType": {"id": -5, "status": 12, "amount": 3},
        "data": [{"id": str(id_), "status": status, "amount": amount}],
    }


ORDERS: list[Any] = [
    change("INSERT", 1, "new"),
    change("INSERT", 2, "new"),
    {"database": "shop"},
    change("INSERT", 3, "paid"),
    change("DELETE", 1, "new"),
]


def test_the_schemas_are_those_of_the_target(dev: ForeignProject) -> None:
    schemas = {row["namespace"] for row in dev.rows("show schemas like 'dev_*'")}
    assert schemas == {f"dev_{layer}" for layer in (*LAYERS, "reports")}


def test_staging_tables_keep_the_settings_that_they_were_read_by(dev: ForeignProject) -> None:
    kept = dev.rows("show tblproperties dev_staging.stg_canal_json ('cdc_marts.key-columns')")
    assert kept == [{"key": "cdc_marts.key-columns", "value": "{}"}]


def test_typed_marts_and_models_read_the_package(dev: ForeignProject) -> None:
    orders = dev.rows("select id, status, amount from dev_reports.orders order by id")
    assert [(row["id"], row["status"], str(row["amount"])) for row in orders] == [
        (2, "new", "1.50"),
        (3, "paid", "1.50"),
    ]
    changes = dev.rows("select op, count(*) as n from dev_reports.order_changes group by op")
    assert {row["op"]: row["n"] for row in changes} == {"insert": 3, "delete": 1}


def test_a_run_without_new_messages_adds_nothing(dev: ForeignProject) -> None:
    before = dev.snapshots("dev_")
    dev.dbt("run", "--target", "dev")
    after = dev.snapshots("dev_")
    # The history of runs, and what each run makes anew.
    written = {"dev_landing.run_results", "dev_reports.source_tables"}
    written |= {"dev_intermediate.int_lost_columns", "dev_intermediate.int_missing_columns"}
    written |= {"dev_marts.message_ledger"}
    assert {name for name in before if before[name] != after[name]} <= written


def test_tables_of_others_stay_as_they_are(dev: ForeignProject) -> None:
    columns = dev.spark.table("marts.latest_state").columns
    assert columns == ["started_on"]
    assert {row["started_on"] for row in dev.rows("select * from marts.latest_state")} == {"dev"}


def test_commands_find_the_tables_of_the_target(dev: ForeignProject) -> None:
    found = dev.command("dev", "status", "--json")
    assert found.exit_code == 0, found.output
    (topic,) = json.loads(found.stdout)["topics"]
    assert (topic["topic"], topic["landed"], topic["waiting"]) == ("shop", 5, 0)
    assert topic["rejects"] == {"missing_field": {"total": 1, "new": 0}}
    shown = dev.command("dev", "status")
    assert "dev_marts.quarantined_messages has the rejected messages" in shown.output

    counted = dev.command(
        "dev", "sql", "--format", "csv", "select count(*) from dev_reports.orders"
    )
    assert counted.output.splitlines()[-1] == "2"

    requeued = dev.command("dev", "requeue")
    assert requeued.exit_code == 0, requeued.output
    assert "canal_json: read 0 messages, 1 remain: 1 missing_field" in requeued.output

    unknown = dev.command(
        "dev", "resync", "--format", "canal_json", "--table", "shop.order", "--topic", "t"
    )
    assert "Did you mean shop.orders?" in unknown.output


def test_the_report_has_the_tables_of_the_target(dev: ForeignProject, tmp_path: Path) -> None:
    dev.spark.sql("create table dev_marts.somebodys_report using iceberg as select 1 as n")
    page = tmp_path / "report.html"
    try:
        written = dev.command("dev", "report", "--output", str(page))
    finally:
        dev.spark.sql("drop table dev_marts.somebodys_report purge")
    assert written.exit_code == 0, written.output

    text = page.read_text("utf-8")
    [sizes] = re.findall(r"Files of the newest state of each table: ([^<]*)\. Older", text)
    layers = [size.split()[0] for size in sizes.split(", ")]
    assert layers == ["landing", "staging", "intermediate", "seeds", NAME]
    rows = dict(re.findall(r"<tr><td>([\w.]+)</td><td class=number>([\d,]+)</td>", text))
    assert rows["dev_landing.canal_json"] == "5"
    # The deleted order is still in a file.
    assert rows["dev_reports.orders"] == "3"
    assert "somebodys_report" not in text
    named = set(re.findall(r"([\w.]*marts)\.(\w+)", text))
    assert named >= {
        ("dev_marts", mart)
        for mart in ("change_events", "latest_state", "quarantined_messages", "runs")
    }
    assert {schema for schema, _ in named} == {"dev_marts"}


def test_the_lines_on_rejects_name_the_mart_of_the_target(dev: ForeignProject) -> None:
    dev.dbt("test", "--target", "dev", "--select", "messages_can_be_read")
    log = (dev.root / "logs" / "dbt.log").read_text("utf-8")
    assert "  shop (canal_json): 1: 1 missing_field" in log
    assert "See dev_marts.quarantined_messages for the messages and reasons." in log


def test_upkeep_sees_to_the_tables_of_the_target_alone(dev: ForeignProject) -> None:
    result = dev.command("dev", "maintain", "--keep-days", "0")
    assert result.exit_code == 0, result.output
    counts = [line for line in result.output.splitlines() if "  files " in line]
    seen = {line.split()[0] for line in counts if not line.startswith("all tables ")}
    assert {"dev_landing.canal_json", "dev_reports.orders", "dev_reports.order_changes"} <= seen
    assert [name for name in seen if not name.startswith("dev_")] == []
    # What it left serves the next run.
    dev.dbt("run", "--target", "dev")


def test_two_targets_in_one_catalog_do_not_touch_one_another(
    dev: ForeignProject, tmp_path: Path
) -> None:
    before = dev.snapshots("dev_")
    land(dev, "prod", ORDERS[:1], tmp_path / "messages.jsonl")
    dev.dbt("run", "--target", "prod")
    assert dev.snapshots("dev_") == before
    assert dev.rows("select id from prod_reports.orders") == [{"id": 1}]
    assert dev.rows("select tables from prod_reports.source_tables") == [{"tables": 1}]


def test_a_round_lands_builds_and_tests_on_the_target(dev: ForeignProject, tmp_path: Path) -> None:
    path = tmp_path / "messages.jsonl"
    orders = [change("INSERT", 4, "new"), change("UPDATE", 3, "new")]
    path.write_text(
        "".join(
            json.dumps({"topic": "more", "partition": 0, "offset": n, "value": json.dumps(order)})
            + "\n"
            for n, order in enumerate(orders)
        )
    )
    selection = ("--select", "stg_canal_json messages_can_be_read")

    ran = dev.command("dev", "run", str(path), "--format", "canal_json", *selection)

    assert ran.exit_code == 0, ran.output
    assert re.search(
        r"round 1 succeeded: landed 2 messages \(canal_json 2\) in [\d.]+ s;"
        r" dbt build: (\d+ pass, )?1 success, 1 warn in",
        ran.output,
    )
    assert "  messages_can_be_read warns" in ran.output
    assert dev.rows("select * from dev_staging.stg_canal_json where topic = 'more'")


@pytest.mark.parametrize(("settings", "problem"), WITHOUT_ROOT_TABLES)
def test_a_project_that_does_not_declare_its_tables_itself_is_told_so(
    spark: SparkSession,
    spark_target: dict[str, Any],
    tmp_path: Path,
    settings: dict[str, Any],
    problem: str,
) -> None:
    project = without_typed_mart(tmp_path, spark, spark_target, settings)
    result = project.try_dbt("run", "--target", "dev", "--select", "base_canal_json")
    assert problem in said(result)


@pytest.mark.parametrize(("settings", "problem"), WITHOUT_ROOT_TABLES)
def test_a_typed_mart_of_such_a_project_is_told_so_too(
    spark_target: dict[str, Any], tmp_path: Path, settings: dict[str, Any], problem: str
) -> None:
    project = ForeignProject.write(tmp_path, None, spark_target, settings)
    project.dbt("deps")
    assert problem in said(project.try_dbt("parse"))


def test_a_model_in_the_place_of_one_of_the_package_is_named(
    spark: SparkSession, spark_target: dict[str, Any], tmp_path: Path
) -> None:
    settings = copy.deepcopy(SETTINGS)
    del settings["flags"]["require_ref_searches_node_package_before_root"]
    project = ForeignProject.write(tmp_path, spark, spark_target, settings)
    (project.root / "models" / "latest_state.sql").unlink()
    (project.root / "models" / "heartbeats.sql").write_text("select 1 as beat\n")
    project.dbt("deps")
    result = project.try_dbt("run", "--target", "dev", "--select", "base_canal_json")
    assert "add `require_ref_searches_node_package_before_root: true` to `flags`" in said(result)


def test_another_adapter_is_told_in_a_sentence(
    spark_target: dict[str, Any], tmp_path: Path
) -> None:
    target = {"type": "spark", "method": "session", "host": "nowhere", "threads": 1}
    project = ForeignProject.write(tmp_path, None, target)
    project.dbt("deps")
    result = project.try_dbt("parse")
    assert not result.success
    assert (
        "cdc_marts needs the dbt adapter spark_session, but the target 'dev' is of type spark: set"
        f" `type: spark_session` for this target in {project.profiles}/profiles.yml."
    ) in str(result.exception)


def test_the_package_comes_by_git_too(spark_target: dict[str, Any], tmp_path: Path) -> None:
    package = {"git": ROOT.as_uri(), "revision": "HEAD"}
    project = ForeignProject.write(tmp_path, None, spark_target, package=package)
    project.dbt("deps")
    project.dbt("parse")
    assert (project.root / "dbt_packages" / "cdc_marts" / "dbt_project.yml").is_file()


def test_schemas_follow_the_macro_and_the_settings_of_the_root_project(
    spark_target: dict[str, Any], tmp_path: Path
) -> None:
    settings = copy.deepcopy(SETTINGS)
    settings["models"]["cdc_marts"] = {"marts": {"+schema": "cdc"}}
    settings["vars"] |= {"landing_schema": "raw", "published_marts": ["latest_state"]}
    project = ForeignProject.write(tmp_path, None, spark_target, settings)
    (project.root / "macros" / "names.sql").write_text(
        "{% macro generate_schema_name(custom_schema_name, node) -%}\n"
        "  {{ [target.schema, custom_schema_name or 'own'] | reverse | join('__') }}\n"
        "{%- endmacro %}\n"
    )
    project.dbt("deps")
    manifest = project.dbt("parse")
    schemas = {
        node.name: node.schema
        for node in manifest.nodes.values()
        if node.package_name == "cdc_marts"
    }
    assert schemas["latest_state"] == "cdc__dev"
    assert schemas["stg_canal_json"] == "staging__dev"
    assert {source.schema for source in manifest.sources.values()} == {"raw"}
    found = inventory_of(Target("dev", project.root, project.profiles))
    layers = {name: table.layer for name, table in found.tables.items()}
    assert layers["published__dev.latest_state"] == "published"
    assert layers["staging__dev.stg_canal_json"] == "staging"
    assert layers["intermediate__dev.int_row_state"] == "intermediate"
    assert layers["raw.canal_json"] == "landing"
    assert layers["reports__dev.orders"] == NAME
    assert found.relations.model("latest_state") == "cdc__dev.latest_state"


def without_typed_mart(
    folder: Path, spark: SparkSession, target: dict[str, Any], settings: dict[str, Any]
) -> ForeignProject:
    """The project without the typed mart and the model that reads it."""
    project = ForeignProject.write(folder, spark, target, settings)
    (project.root / "models" / "orders.sql").unlink()
    (project.root / "models" / "latest_state.sql").unlink()
    project.dbt("deps")
    return project


def said(result: Any) -> str:
    assert not result.success
    results = getattr(result.result, "results", None) or []
    return " ".join([str(result.exception), *(str(one.message) for one in results)])
