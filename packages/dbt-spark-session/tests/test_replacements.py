"""Rows are replaced by one run: not by one that another run took for dead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dbt.adapters.spark_session.catalog import iceberg_table
from dbt.adapters.spark_session.replacements import (
    branches_of_replacements,
    finish_replacement,
    new_branch,
    start_replacement,
)
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    spark.sql("create namespace if not exists replaced")
    spark.sql("create table replaced.a (id int, run string) using iceberg")
    spark.sql("insert into replaced.a values (1, 'before'), (2, 'before')")
    yield "replaced.a"
    spark.sql("drop table replaced.a purge")


@pytest.mark.parametrize("is_written_late", [True, False])
def test_a_run_that_was_replaced_adds_no_rows(
    spark: SparkSession, table: str, is_written_late: bool
) -> None:
    frozen, next_run = new_branch(), new_branch()
    of_frozen = start_replacement(spark, table, frozen, "id = 1")
    if not is_written_late:
        spark.sql(f"insert into {of_frozen} values (1, 'frozen')")

    of_next_run = start_replacement(spark, table, next_run, "id = 1")
    spark.sql(f"insert into {of_next_run} values (1, 'next')")
    if is_written_late:
        with pytest.raises(Exception, match=frozen):
            spark.sql(f"insert into {of_frozen} values (1, 'frozen')")
    with pytest.raises(DbtRuntimeError, match=f"Another run began to replace rows of {table}"):
        finish_replacement(spark, table, frozen)
    finish_replacement(spark, table, next_run)

    rows = {(row["id"], row["run"]) for row in spark.table(table).collect()}
    assert rows == {(1, "next"), (2, "before")}
    assert branches_of_replacements(iceberg_table(spark, table)) == []
