"""The project as a user runs it: land messages, run `dbt build`, read marts."""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession

from tests.python.harness.dbt import OnEvent, folders, run_dbt
from tests.python.harness.manifest import ROOT

LANDED_AT = dt.datetime(2026, 1, 1)
_SCHEMAS = ("landing", "staging", "intermediate", "marts", "published")


@dataclass(frozen=True)
class Landed:
    """A message with its place in a topic."""

    topic: str
    offset: int
    value: bytes | None
    key: bytes | None = None
    partition: int = 0


class Project:
    """The target `local` over one Spark session. `root`: the project, or a copy of it."""

    def __init__(self, spark: SparkSession, root: Path = ROOT) -> None:
        self.spark = spark
        self.root = root

    def options(self, *arguments: str) -> tuple[str, ...]:
        """Return further options for a command of dbt: its target, and where it reads and writes.

        Commands with the same `--vars` write into one folder.
        """
        variables = arguments[arguments.index("--vars") + 1] if "--vars" in arguments else ""
        written = Path(_written(self.root, variables).name)
        return ("--target", "local", *folders(self.root, self.root / "profiles", written))

    def land(
        self, source_format: str, messages: Iterable[Landed], landed_at: dt.datetime = LANDED_AT
    ) -> None:
        """Append to a landing table, as a job of a user would."""
        rows = [
            (m.topic, m.partition, m.offset, landed_at, _bytes(m.key), _bytes(m.value), landed_at)
            for m in messages
        ]
        table = f"landing.{source_format}"
        frame = self.spark.createDataFrame(rows, self.spark.table(table).schema)
        frame.writeTo(table).append()

    def dbt(self, *arguments: str, on_event: OnEvent | None = None) -> Any:
        """Return the result of a command. An error fails the test."""
        return run_dbt(*arguments, *self.options(*arguments), on_event=on_event)

    def empty(self) -> None:
        """Drop every table and view, and create the landing tables again."""
        self.drop_all()
        self.dbt("run-operation", "create_landing_tables")

    def drop_all(self) -> None:
        for schema in _SCHEMAS:
            if self.spark.catalog.databaseExists(schema):
                drop_tables_and_views(self.spark, schema, purge=True)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Return the rows of a query as plain dicts."""
        return [row.asDict(recursive=True) for row in self.spark.sql(sql).collect()]

    def found_by(
        self, data_tests: Collection[str], *options: str
    ) -> dict[str, list[dict[str, Any]]]:
        """Return what data tests find, by the queries that dbt runs for them."""
        selected = (f"test_name:{name}" for name in data_tests)
        compiled = self.dbt("compile", "--select", *selected, *options)
        nodes = [result.node for result in compiled.results]
        queries = {node.test_metadata.name: node.compiled_code for node in nodes}
        return {test: self.rows(queries[test]) for test in data_tests}

    def latest_state(self, source_format: str, table_id: str) -> Iterator[dict[str, Any]]:
        """Yield the current rows of a table, with `row` as a dict with exact numbers."""
        for row in self.rows(
            "select row_key, to_json(`row`) as `row`, row_count, last_sequence, last_event_id"
            f" from marts.latest_state where source_format = '{source_format}'"
            f" and table_id = '{table_id}'"
        ):
            yield {**row, "row": json.loads(row["row"], parse_float=str)}


@cache
def _written(root: Path, variables: str) -> TemporaryDirectory[str]:
    """Return the folder into which this process writes for one value of `--vars`.

    If the last command in a folder had another value, dbt parses the whole project again.
    """
    return TemporaryDirectory(prefix="cdc_marts-")


def drop_tables_and_views(spark: SparkSession, schema: str, *, purge: bool) -> None:
    """Drop all of a schema. `purge`: also delete the files, which takes time for each file."""
    for view in spark.sql(f"show views in {schema}").where("not isTemporary").collect():
        spark.sql(f"drop view {schema}.{view.viewName}")
    for table in spark.sql(f"show tables in {schema}").where("not isTemporary").collect():
        spark.sql(f"drop table {schema}.{table.tableName}{' purge' if purge else ''}")


def content(spark: SparkSession, relation: str, without: Collection[str] = ()) -> list[str]:
    """Return the rows of a table or view as sorted JSON texts, `without` some of its columns."""
    return sorted(json_texts(spark, relation, without))


def json_texts(
    spark: SparkSession, relation: str, without: Collection[str] = (), order_by: str | None = None
) -> list[str]:
    """Return the rows as JSON texts, sorted by a column or not. A VARIANT is JSON text."""
    columns = [
        f"to_json(`{field.name}`) as `{field.name}`"
        if field.dataType.typeName() == "variant"
        else f"`{field.name}`"
        for field in spark.table(relation).schema
        if field.name not in without
    ]
    order = "" if order_by is None else f" order by {order_by}"
    rows = spark.sql(
        f"select to_json(struct(*)) as text"
        f" from (select {', '.join(columns)} from {relation}{order})"
    )
    return [row["text"] for row in rows.collect()]


def binary(text: str) -> bytes:
    return base64.b64decode(text)


def _bytes(value: bytes | None) -> bytearray | None:
    return None if value is None else bytearray(value)
