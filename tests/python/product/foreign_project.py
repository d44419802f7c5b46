"""A dbt project that was there before, with cdc_marts as a package of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from cdc_marts import project as cli_project
from cdc_marts.cli import app
from tests.python.project.manifest import ROOT

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
        texts = {
            project.profiles / "profiles.yml": yaml.safe_dump(
                {NAME: {"target": "dev", "outputs": outputs}}
            ),
            project.root / "dbt_project.yml": yaml.safe_dump(settings or SETTINGS),
            project.root / "packages.yml": yaml.safe_dump(
                {"packages": [package or {"local": str(ROOT)}]}
            ),
            **{project.root / name: text for name, text in FILES.items()},
        }
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return project

    def dbt(self, *arguments: str) -> Any:
        """Run a dbt command; an error fails the test with dbt's own words."""
        result = self.try_dbt(*arguments)
        failures = [
            f"{r.node.name}: {r.message}"
            for r in getattr(result.result, "results", [])
            if r.status in ("error", "fail", "runtime error")
        ]
        assert result.success, "\n".join([*failures, str(result.exception)])
        return result.result

    def try_dbt(self, *arguments: str) -> Any:
        folders = ("--project-dir", self.root, "--profiles-dir", self.profiles)
        written = ("--log-path", self.root / "logs")
        if arguments[0] != "deps":
            written += ("--target-path", self.root / "target")
        return dbtRunner().invoke([*arguments, "--quiet", *map(str, (*folders, *written))])

    def command(self, target: str, *arguments: str) -> Result:
        """Run `cdc-marts` from elsewhere, in the session that is there."""
        options = ("--project-dir", self.root, "--profiles-dir", self.profiles)
        with _in_session(self.spark):
            return CliRunner().invoke(
                app, [*arguments, *map(str, options), "--target", target], catch_exceptions=False
            )

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


@contextmanager
def _in_session(spark: SparkSession) -> Iterator[None]:
    @contextmanager
    def session(target: Any, **_: Any) -> Iterator[SparkSession]:
        yield spark

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli_project, "spark_session", session)
        yield
