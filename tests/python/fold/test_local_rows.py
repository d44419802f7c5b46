"""Rows of the driver in a DataFrame: they are the same, and no executor runs Python for them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DecimalType, LongType, StringType, StructType

from cdc_marts.checkpoints import checkpointed
from cdc_marts.local_rows import local_rows
from tests.python.harness.executors import without_python

SCHEMA = (
    StructType()
    .add("name", StringType())
    .add("at", StructType().add("position", DecimalType(38, 0)).add("offset", LongType()))
)
ROWS = [
    {"name": "a", "at": {"position": Decimal(10**37), "offset": 1}},
    {"name": None, "at": {"position": None, "offset": None}},
]


@pytest.fixture(autouse=True)
def _no_python_on_executors(spark: SparkSession) -> Iterator[None]:
    with without_python(spark):
        yield


@pytest.mark.parametrize("rows", [ROWS, []])
def test_rows_stay_as_they_are(spark: SparkSession, rows: list[dict[str, object]]) -> None:
    local = local_rows(spark, [tuple(row.values()) for row in rows], SCHEMA)
    for frame in (local, checkpointed(local)):
        assert [row.asDict(recursive=True) for row in frame.collect()] == rows
        assert frame.schema == SCHEMA


def test_a_list_of_rows_would_need_python(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="nonexistent"):
        spark.createDataFrame([("a", (Decimal(1), 1))], SCHEMA).collect()
