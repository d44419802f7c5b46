"""Published and typed marts: what other engines read of them is what Spark reads."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType

from cdc_marts.operations.maintenance import maintain
from cdc_marts.operations.retention import removals, remove
from tests.python.end_to_end.readers import (
    Reader,
    embedded_catalog,
    of_duckdb,
    of_pyiceberg,
    of_spark,
)
from tests.python.harness.copied_project import copy_with_typed_marts
from tests.python.harness.project import Landed, Project, content
from tests.python.samples.files import samples

pytestmark = pytest.mark.long

MARTS = (
    *("change_events", "latest_state", "row_history", "ddl_events", "heartbeats"),
    *("transaction_events", "quarantined_messages", "source_tables", "message_ledger"),
)
#: One that is ordered by landing and empties tables, one whose updates come in two halves.
FORMATS = ("canal_json", "dataworks_json")
#: A typed mart of Canal's messages. It has format version 3: its deletes are deletion vectors.
TYPED = "marts.shop_orders"
NOT_IN_THE_FIRST_SHARE = ("heartbeats", "transaction_events", "quarantined_messages")
VARS = ("--vars", json.dumps({"published_marts": MARTS}))


@pytest.fixture(scope="module")
def project(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = Project(spark, copy_with_typed_marts(tmp_path_factory.mktemp("published")))
    project.empty()
    yield project
    project.drop_all()


@pytest.fixture(scope="module")
def readers(spark_home: Path) -> dict[str, Reader]:
    catalog = embedded_catalog(spark_home)
    return {"PyIceberg": of_pyiceberg(catalog), "DuckDB": of_duckdb(catalog)}


class TestPublishedMarts:
    """One after the other: a first build, an increment, and upkeep."""

    @pytest.fixture(scope="class")
    def shares(self) -> Iterator[dict[str, list[Landed]]]:
        """What lands before each run: the later share changes, deletes and empties."""
        first, second = (
            {source_format: _share(source_format, run) for source_format in FORMATS}
            for run in range(2)
        )
        second["canal_json"].append(_delete_of_an_order(second["canal_json"]))
        return iter((first, second))

    def test_a_first_build(self, project: Project, shares, readers: dict[str, Reader]) -> None:
        _run(project, next(shares))
        _assert_all_read_the_marts(project, readers)

    def test_an_increment(self, project: Project, shares, readers: dict[str, Reader]) -> None:
        before = _snapshots(project)
        _run(project, next(shares))
        _assert_all_read_the_marts(project, readers)
        after = _snapshots(project)
        for mart in ("change_events", "latest_state", "row_history"):
            new = after[mart][len(before[mart]) :]
            assert new, mart
            # Less than all is written.
            assert new[-1]["operation"] == "append", mart
            assert int(new[-1]["added"]) < int(new[-1]["total"]), mart
        assert _of_kind(after["latest_state"], "deletes") > 0
        deletes = project.rows(f"select file_format from {TYPED}.delete_files")
        assert {row["file_format"] for row in deletes} == {"PUFFIN"}

    def test_nothing_new_writes_nothing(self, project: Project) -> None:
        before = _snapshots(project)
        project.dbt("run", "--select", "published", *VARS)
        assert _snapshots(project) == before

    def test_upkeep(self, project: Project, readers: dict[str, Reader]) -> None:
        tables = [*(f"published.{mart}" for mart in ("latest_state", "row_history")), TYPED]
        list(maintain(project.spark, tables, 0))
        _assert_all_read_the_marts(project, readers)

    def test_messages_that_were_removed_from_landing(
        self, project: Project, readers: dict[str, Reader]
    ) -> None:
        before = _snapshots(project)
        for removal in removals(project.spark, 1, dt.datetime.now(dt.timezone.utc)):
            remove(project.spark, removal)
        project.dbt("run", "--select", "published", *VARS)
        _assert_all_read_the_marts(project, readers)
        [ledger] = project.rows("select sum(removed) as removed from published.message_ledger")
        assert ledger["removed"] > 0
        after = _snapshots(project)
        assert [mart for mart in MARTS if after[mart] != before[mart]] == ["message_ledger"]

    def test_messages_that_wait_while_a_run_works(
        self, project: Project, readers: dict[str, Reader]
    ) -> None:
        """They have landed before the marts are published, but after staging has read."""
        project.land("canal_json", [Landed("later", 0, b"{}")])
        project.dbt("run", "--select", "stg_canal_json")
        project.land("canal_json", [Landed("later", 1, b"{}")])
        project.dbt("run", "--exclude", "stg_canal_json", *VARS)
        _assert_all_read_the_marts(project, readers)
        project.dbt("run", *VARS)
        _assert_all_read_the_marts(project, readers)


def test_deletion_vectors_that_share_a_file_are_read(
    spark: SparkSession, readers: dict[str, Reader]
) -> None:
    """A merge of a typed mart writes those of all data files that it touches into one file."""
    table = "marts.vectors"
    spark.sql("create schema if not exists marts")
    spark.sql(f"create or replace table {table} (id int, text string) using iceberg")
    for first in (0, 10):
        spark.sql(f"insert into {table} select id, 'old' from range({first}, {first} + 10)")
    for id in (3, 4):
        spark.sql(
            f"merge into {table} as held using (select explode(array({id}, {id} + 10)) as id)"
            " as new on held.id = new.id when matched and new.id > 10 then delete"
            " when matched then update set text = 'new'"
        )
    files = spark.sql(f"select file_path, count(*) as n from {table}.delete_files group by 1")
    assert [row.n for row in files.collect()] == [2]
    rows = of_spark(spark)(table)
    assert len(rows) == 18
    for name, reader in readers.items():
        assert reader(table) == rows, name
    spark.sql(f"drop table {table} purge")


def _share(source_format: str, run: int) -> list[Landed]:
    messages = samples(source_format)
    half = len(messages) // 2
    return [
        Landed(m.topic, m.offset, m.value, m.key, m.partition)
        for m in (messages[:half], messages[half:])[run]
    ]


def _delete_of_an_order(messages: list[Landed]) -> Landed:
    """A message behind these: the order that one of them updated last is deleted."""
    of_shop = [message for message in messages if message.topic == "shop"]
    changes = [json.loads(message.value or b"{}") for message in of_shop]
    updates = [c for c in changes if (c.get("table"), c.get("type")) == ("orders", "UPDATE")]
    deleted = json.dumps({**updates[-1], "type": "DELETE", "old": None}).encode()
    return Landed("shop", max(message.offset for message in of_shop) + 1, deleted)


def _run(project: Project, shares: dict[str, list[Landed]]) -> None:
    for source_format, messages in shares.items():
        project.land(source_format, messages)
    project.dbt("run", *VARS)


def _assert_all_read_the_marts(project: Project, readers: dict[str, Reader]) -> None:
    spark = of_spark(project.spark)
    for mart in MARTS:
        table = f"published.{mart}"
        assert _with_types_of_mart(project, mart) == content(project.spark, f"marts.{mart}"), mart
        rows = spark(table)
        assert rows or mart in NOT_IN_THE_FIRST_SHARE, mart
        for name, reader in readers.items():
            assert reader(table) == rows, f"{mart} as {name} reads it"
    rows = spark(TYPED)
    assert rows
    for name, reader in readers.items():
        assert reader(TYPED) == rows, f"{TYPED} as {name} reads it"


def _with_types_of_mart(project: Project, mart: str) -> list[str]:
    """The rows of a published mart, with arrays in place of the JSON texts that it has of them."""
    published = project.spark.table(f"published.{mart}")
    arrays = {
        field.name: F.from_json(field.name, field.dataType)
        for field in project.spark.table(f"marts.{mart}").schema
        if isinstance(field.dataType, ArrayType)
        and isinstance(published.schema[field.name].dataType, StringType)
    }
    published.withColumns(arrays).createOrReplaceTempView("with_types_of_mart")
    return content(project.spark, "with_types_of_mart")


def _snapshots(project: Project) -> dict[str, list[dict[str, str]]]:
    """Mart -> the snapshots of its published table, oldest first."""
    return {
        mart: project.rows(
            "select operation, summary['added-records'] as added,"
            " summary['added-position-deletes'] as deletes, summary['total-records'] as total"
            f" from published.{mart}.snapshots order by committed_at"
        )
        for mart in MARTS
    }


def _of_kind(snapshots: list[dict[str, str]], kind: str) -> int:
    return sum(int(snapshot[kind] or 0) for snapshot in snapshots)
