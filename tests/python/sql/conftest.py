"""`cdc-marts sql` over the shared session, and a small table in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from dbt.adapters.spark_session.catalog import activate
from pyspark.sql import SparkSession
from typer.testing import Result

from tests.python.harness.commands import commands_use, run_command

#: Names and values as messages may bring them.
HOSTILE = "x\x1b[2J\u202e\nrow"
SHOWN = r"x\x1b[2J\u202e\nrow"

Sql = Callable[..., Result]


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    activate(spark)
    spark.sql("create namespace if not exists sql_test")
    spark.sql(
        "create table sql_test.orders (id bigint, amount decimal(20,2), note string,"
        " tags array<string>, row variant, placed_at timestamp, bytes binary) using iceberg"
    )
    spark.sql(
        "insert into sql_test.orders values (9007199254740993, 1.10, 'a,\"b\"', array('x|y'),"
        """ parse_json('{"name":"李雷","n":1}'), timestamp'2026-01-02 03:04:05.123456', x'00ff'),"""
        " (2, null, '', null, null, null, null)"
    )
    yield spark
    spark.sql("drop table sql_test.orders purge")
    spark.sql("drop namespace sql_test")


@pytest.fixture
def command_line(session: SparkSession) -> Iterator[None]:
    """`cdc-marts` in this session."""
    with commands_use(session):
        yield


@pytest.fixture
def sql(command_line: None) -> Sql:
    """Runs `cdc-marts sql` with these arguments; `given` comes from stdin."""
    return partial(run_command, "sql")
