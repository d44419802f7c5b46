"""`cdc-marts sql` over the shared session, and a small table in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from dbt.adapters.spark_session.catalog import activate
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from cdc_marts import project
from cdc_marts.cli import app

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
def command_line(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """`cdc-marts` in this session."""

    @contextmanager
    def open_session(*_: Any, **__: Any) -> Iterator[SparkSession]:
        yield session

    monkeypatch.setattr(project, "spark_session", open_session)


@pytest.fixture
def sql(command_line: None) -> Sql:
    """Runs `cdc-marts sql` with these arguments; `given` comes from stdin."""

    def run(*arguments: object, given: str | None = None) -> Result:
        return CliRunner().invoke(app, ["sql", *map(str, arguments)], input=given)

    return run
