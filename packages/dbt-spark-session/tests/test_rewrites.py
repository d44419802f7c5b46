"""Rows are changed where they stand; afterwards no file holds what they were."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.spark_session import rewrites
from dbt.adapters.spark_session.catalog import (
    TableSnapshots,
    all_snapshots,
    iceberg_table,
    snapshots,
)
from dbt.adapters.spark_session.replacements import new_branch, start_replacement
from dbt.adapters.spark_session.rewrites import forget_past, rewrite_rows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from stored_bytes import files_with

SECRET = "Qx7vUnmistakable"
LINEAGE = "select id, _row_id, _last_updated_sequence_number from rewritten.a order by id"


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    spark.sql("create namespace if not exists rewritten")
    spark.sql("create table rewritten.a (id int, text string) using iceberg")
    for row in (f"(1, '{SECRET}1'), (2, 'b')", "(3, 'c')", f"(4, '{SECRET}4'), (5, 'e')"):
        spark.sql(f"insert into rewritten.a values {row}")
    yield "rewritten.a"
    spark.sql("drop table rewritten.a purge")


def test_rewritten_rows_keep_their_lineage_and_are_not_new(spark: SparkSession, table: str) -> None:
    lineage = spark.sql(LINEAGE).collect()
    read_up_to = iceberg_table(spark, table).currentSnapshot().snapshotId()
    files, touched = _files_of(spark, table), _files_with_secret(spark, table)

    redact(spark, table)

    assert [row["text"] for row in spark.table(table).orderBy("id").collect()] == [
        None,
        "b",
        "c",
        None,
        "e",
    ]
    assert spark.sql(LINEAGE).collect() == lineage
    assert _files_of(spark, table) & files == files - touched, "other files stay"
    made = list(snapshots(spark, iceberg_table(spark, table)))
    ids = [snapshot.id for snapshot in made]
    assert {snapshot.operation for snapshot in made[: ids.index(read_up_to)]} == {"replace"}


def test_after_its_past_is_forgotten_no_file_holds_what_a_row_was(
    spark: SparkSession, table: str
) -> None:
    branch = start_replacement(spark, table, new_branch(), "false")
    spark.sql(f"insert into {branch} values (9, '{SECRET}9')")
    spark.sql(f"alter table {table} create tag theirs as of version {_first(spark, table)}")
    redact(spark, table)
    assert _holds_secret(spark, table)

    kept = forget_past(spark, table, _newest(spark, table), _now())
    assert kept == ["theirs"]
    assert _holds_secret(spark, table), "a tag keeps its snapshot"
    spark.sql(f"alter table {table} drop tag theirs")
    kept = forget_past(spark, table, _newest(spark, table), _now())

    assert kept == []
    assert not _holds_secret(spark, table)
    assert spark.table(table).count() == 5


def test_a_commit_of_another_process_does_not_take_the_place_of_a_snapshot_that_stays(
    spark: SparkSession, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest = _newest(spark, table)

    def commit_first(*arguments: Any) -> TableSnapshots:
        found = all_snapshots(*arguments)
        spark.sql(f"insert into {table} values (6, 'f')")
        return found

    monkeypatch.setattr(rewrites, "all_snapshots", commit_first)
    spark.sql(f"insert into {table} values (7, 'g')")

    forget_past(spark, table, oldest, _now())

    made = [snapshot.id for snapshot in snapshots(spark, iceberg_table(spark, table))]
    assert made.index(oldest) == len(made) - 1 == 2
    assert spark.table(table).count() == 7


def redact(spark: SparkSession, table: str) -> None:
    rewrite_rows(
        spark,
        table,
        _files_with_secret(spark, table),
        lambda rows: rows.withColumn(
            "text", F.when(~F.col("text").startswith(SECRET), F.col("text"))
        ),
    )


def _now() -> int:
    return int(time.time() * 1000) + 1


def _newest(spark: SparkSession, table: str) -> int:
    newest: int = iceberg_table(spark, table).currentSnapshot().snapshotId()
    return newest


def _first(spark: SparkSession, table: str) -> int:
    return list(snapshots(spark, iceberg_table(spark, table)))[-1].id


def _files_of(spark: SparkSession, table: str) -> set[str]:
    return {row["file_path"] for row in spark.table(f"{table}.files").collect()}


def _files_with_secret(spark: SparkSession, table: str) -> set[str]:
    rows = spark.sql(f"select distinct _file from {table} where text like '{SECRET}%'").collect()
    return {row["_file"] for row in rows}


def _holds_secret(spark: SparkSession, table: str) -> list[str]:
    location = Path(iceberg_table(spark, table).location().removeprefix("file:"))
    return files_with(location, [SECRET])
