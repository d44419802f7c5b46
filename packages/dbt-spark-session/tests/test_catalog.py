"""What the catalog tells of tables and views."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dbt.adapters.spark_session.catalog import Metadata, has_rows, view_query
from pyspark.sql import SparkSession

TABLE, VIEW = "of_catalog.numbers", "of_catalog.shown"


@pytest.fixture
def metadata(spark: SparkSession) -> Iterator[Metadata]:
    """Of an empty table and a view of it."""
    spark.sql("create schema of_catalog")
    spark.sql(f"create table {TABLE} (n bigint)")
    spark.sql(f"create view {VIEW} as select n from {TABLE}")
    yield Metadata(spark)
    spark.sql(f"drop view {VIEW}")
    spark.sql(f"drop table {TABLE} purge")
    spark.sql("drop schema of_catalog")


def test_later_changes_are_seen_by_others(spark: SparkSession, metadata: Metadata) -> None:
    assert not metadata.has_rows(TABLE)
    assert metadata.view_query(VIEW) == f"select n from {TABLE}"
    columns, rows = metadata.columns_id(VIEW), metadata.rows_id(TABLE)

    spark.sql(f"insert into {TABLE} values (1)")
    spark.sql(f"create or replace view {VIEW} as select n + 1 as n from {TABLE}")

    assert not metadata.has_rows(TABLE)
    assert metadata.view_query(VIEW) == f"select n from {TABLE}"
    assert (metadata.columns_id(VIEW), metadata.rows_id(TABLE)) == (columns, rows)
    assert has_rows(spark, TABLE)
    assert view_query(spark, VIEW) == f"select n + 1 as n from {TABLE}"
    assert Metadata(spark).columns_id(VIEW) != columns
    assert Metadata(spark).rows_id(TABLE) != rows


def test_snapshots_are_told_from_any_of_them_on(spark: SparkSession, metadata: Metadata) -> None:
    for n in range(3):
        spark.sql(f"insert into {TABLE} values ({n})")
    newest, middle, oldest = metadata.snapshots(TABLE)
    assert metadata.newest_snapshot(TABLE) == newest
    assert list(metadata.snapshots(TABLE, middle.id)) == [middle, oldest]
    assert list(metadata.snapshots(TABLE, 0)) == []


@pytest.mark.parametrize("name", ["of_catalog.nothing", "nothing.nothing"])
def test_what_does_not_exist_has_no_ids(metadata: Metadata, name: str) -> None:
    assert metadata.view_query(name) is None
    assert metadata.columns_id(name) is None
    assert metadata.rows_id(name) is None
    assert metadata.rows_id(VIEW) is None
