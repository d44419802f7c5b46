"""A dbt project that was there before, with cdc_marts as a package of it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunnerResult
from pyspark.sql import SparkSession
from typer.testing import Result

from tests.python.harness.commands import commands_use, run_command
from tests.python.harness.dbt import folders, run_dbt, try_dbt
from tests.python.harness.manifest import ROOT
from tests.python.harness.written_project import write_project

NAME = "shop_analytics"

#: A typed mart, what it is declared as, and models that have names of models of cdc_marts.
FILES = {
    "models/orders.sql": "{{ cdc_marts.typed_mart() }}\n",
    "models/latest_state.sql": (
        "select id, status from {{ ref('orders') }} where status is not null\n"
    ),
    "models/source_tables.sql": (
        "{{ config(materialized='table') }}\n"
        "select count(*) as tables from {{ ref('cdc_marts', 'source_tables') }}\n"
    ),
    "models/order_changes.sql": (
        "{{ config(materialized='incremental') }}\n"
        "select event_id, op from {{ new_rows(ref('cdc_marts', 'int_row_effects')) }}\n"
        "where table_id = 'shop.orders'\n"
    ),
    "macros/note_run.sql": (
        "{% macro note_run() -%}\n"
        "  {%- do adapter.create_schema(api.Relation.create(schema='marts')) -%}\n"
        "create table if not exists marts.latest_state (started_on string) using iceberg\n"
        "{%- endmacro %}\n"
    ),
}
SETTINGS: dict[str, Any] = {
    "name": NAME,
    "config-version": 2,
    "profile": NAME,
    "flags": {
        "send_anonymous_usage_stats": False,
        "require_ref_searches_node_package_before_root": True,
    },
    "on-run-start": [
        "{{ note_run() }}",
        "insert into marts.latest_state values ('{{ target.name }}')",
    ],
    "vars": {
        "tables": {
            "orders": {
                "source_format": "canal_json",
                "table_id": "shop.orders",
                "casts": {"amount": "decimal(18,2)"},
            }
        }
    },
    "models": {NAME: {"+schema": "reports"}},
}


@dataclass(frozen=True)
class ForeignProject:
    """The project in a folder, its profiles in another one, over one Spark session."""

    root: Path
    profiles: Path
    spark: SparkSession

    @classmethod
    def write(
        cls,
        folder: Path,
        spark: SparkSession,
        target: dict[str, Any],
        settings: dict[str, Any] | None = None,
        package: dict[str, str] | None = None,
    ) -> ForeignProject:
        """Two targets in one catalog; `target`: their settings, but for the schema."""
        project = cls(folder / NAME, folder / "profiles", spark)
        outputs = {name: {**copy.deepcopy(target), "schema": name} for name in ("dev", "prod")}
        packages = yaml.safe_dump({"packages": [package or {"local": str(ROOT)}]})
        files = {"packages.yml": packages, **FILES}
        write_project(project.root, settings or SETTINGS, outputs, files, project.profiles)
        return project

    def dbt(self, *arguments: str) -> Any:
        return run_dbt(*arguments, *folders(self.root, self.profiles))

    def try_dbt(self, *arguments: str) -> dbtRunnerResult:
        return try_dbt(*arguments, *folders(self.root, self.profiles))

    def command(self, target: str, *arguments: str) -> Result:
        """Run `cdc-marts` from elsewhere, in the session that is there."""
        options = ("--project-dir", self.root, "--profiles-dir", self.profiles)
        with commands_use(self.spark):
            return run_command(*arguments, *options, "--target", target)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return [row.asDict(recursive=True) for row in self.spark.sql(sql).collect()]

    def snapshots(self, schemas: str) -> dict[str, int]:
        """Table -> its newest snapshot, of the schemas whose names begin so."""
        found = {}
        for schema in self.rows(f"show schemas like '{schemas}*'"):
            for table in self.rows(f"show tables in {schema['namespace']}"):
                name = f"{schema['namespace']}.{table['tableName']}"
                if (
                    self.spark.sql(f"show views in {schema['namespace']}")
                    .where(f"viewName = '{table['tableName']}'")
                    .isEmpty()
                ):
                    [newest] = self.rows(f"select max(committed_at) as at from {name}.snapshots")
                    found[name] = newest["at"]
        return found

    def drop(self, schema: str) -> None:
        """Drop the tables and views of a schema, if it exists."""
        if not self.spark.catalog.databaseExists(schema):
            return
        views = {row["viewName"] for row in self.rows(f"show views in {schema}")}
        for view in views:
            self.spark.sql(f"drop view {schema}.{view}")
        for table in self.rows(f"show tables in {schema}"):
            if table["tableName"] not in views:
                self.spark.sql(f"drop table {schema}.{table['tableName']} purge")
