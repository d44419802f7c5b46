"""Messages stand beside their tests; those of a module are parsed in one job.

A module names its parser in `PARSE`.  `@said(message)` above a test, or as a mark of one of its
parameters, is what the test gets the staging rows of.  `topic` and `key` of the mark are those of
its messages, and `parse` is another parser; each parser of a module has one job.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.python.formats.staging import bytes_of, landed, rows_of

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rows_by_mark(request: pytest.FixtureRequest, spark: SparkSession) -> dict[int, Rows]:
    """The number (`id`) of a mark -> the staging rows of its messages. Each message has a row."""
    tests = (item for item in request.session.items if item.module is request.module)
    marks = {id(mark): mark for test in tests for mark in test.iter_markers("said")}
    found: dict[int, Rows] = {number: [] for number in marks}
    by_parser: dict[Any, list[tuple[Any, Any, str, int]]] = defaultdict(list)
    for number, mark in marks.items():
        settings = mark.kwargs
        parse = settings.get("parse") or request.module.PARSE
        by_parser[parse] += (
            (value, settings.get("key"), settings.get("topic", "topic"), number)
            for value in mark.args
        )
    for parse, messages in by_parser.items():
        values, keys, topics, numbers = zip(*messages, strict=True)
        rows = rows_of(parse(landed(spark, values, keys, topics)))
        assert {row["offset"] for row in rows} == set(range(len(values)))
        for row in rows:
            found[numbers[row["offset"]]].append(row)
    return found


@pytest.fixture
def rows_of_module(rows_by_mark: dict[int, Rows]) -> Rows:
    """The staging rows of all tests of the module that run."""
    return [row for rows in rows_by_mark.values() for row in rows]


@pytest.fixture
def rows(request: pytest.FixtureRequest, rows_by_mark: dict[int, Rows]) -> Rows:
    """The staging rows of the test's messages, in the order of these."""
    return [row for mark in request.node.iter_markers("said") for row in rows_by_mark[id(mark)]]


@pytest.fixture
def row(rows: Rows) -> dict[str, Any]:
    """The only one of them."""
    [row] = rows
    return row


@pytest.fixture
def sent(request: pytest.FixtureRequest) -> bytes:
    """The bytes of the test's only message."""
    [message] = [message for mark in request.node.iter_markers("said") for message in mark.args]
    return bytes(bytes_of(message))
