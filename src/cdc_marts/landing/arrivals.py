"""A message counts once: at its first landing."""

from __future__ import annotations

from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

IDENTITY = ("topic", "partition", "offset")
#: Beyond this many partitions one range over all of them is narrow enough.
_MOST_RANGES = 200


def first_arrivals(messages: DataFrame, dbt: Any) -> DataFrame:
    """The messages without those that were landed before, now or in an earlier run.

    `messages` are newly landed ones in the shape of a landing table, and those
    that are read again; `dbt` is the object of the staging model, whose table
    holds the earlier ones.  It is looked at only in the offset ranges of the
    messages.  Without repetitions the messages pass through untouched.
    """
    ranges = _offset_ranges(messages)
    if any(range_.messages != range_.offsets for range_ in ranges):
        by_arrival = Window.partitionBy(*IDENTITY).orderBy("landed_at")
        messages = (
            messages.withColumn("arrival", F.row_number().over(by_arrival))
            .where("arrival = 1")
            .drop("arrival")
        )
    if dbt.is_incremental and ranges:
        staged = messages.sparkSession.table(str(dbt.this))
        if dbt.replaced_rows is not None:
            staged = staged.where(f"not ({dbt.replaced_rows})")
        earlier = staged.where(_within(ranges)).select(*IDENTITY).distinct()
        if not earlier.isEmpty():
            messages = messages.join(earlier, list(IDENTITY), "left_anti")
    return messages


def _offset_ranges(messages: DataFrame) -> list[Row]:
    return (
        messages.groupBy("topic", "partition")
        .agg(
            F.min("offset").alias("first"),
            F.max("offset").alias("last"),
            F.count("*").alias("messages"),
            F.count_distinct("offset").alias("offsets"),
        )
        .collect()
    )


def _within(ranges: list[Row]) -> Column:
    if len(ranges) > _MOST_RANGES:
        first, last = min(r.first for r in ranges), max(r.last for r in ranges)
        return F.col("offset").between(first, last)
    return reduce(
        Column.__or__,
        (
            (F.col("topic") == r.topic)
            & (F.col("partition") == r.partition)
            & F.col("offset").between(r.first, r.last)
            for r in ranges
        ),
    )
