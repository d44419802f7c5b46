"""Conditions for reading earlier parts of the log, made of literals so that Spark skips files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

#: If there would be more ranges than this, fewer and wider ranges are used.
_MOST_RANGES = 200
#: The positions of a topic are cut into this many parts, and empty parts are left out.
_PIECES = 16


def in_ranges_of(messages: DataFrame) -> Column:
    """Condition on records: the message is in the same partition as some messages, between them.

    `messages`: topic, partition, offset.
    """
    ranges = (
        messages.groupBy("topic", "partition")
        .agg(F.min("offset").alias("first"), F.max("offset").alias("last"))
        .limit(_MOST_RANGES + 1)
        .collect()
    )
    if len(ranges) > _MOST_RANGES:
        return F.lit(True)
    return _any_of(
        (F.col("topic") == found.topic)
        & (F.col("partition") == found.partition)
        & F.col("offset").between(found.first, found.last)
        for found in ranges
    )


def is_one_of(messages: DataFrame) -> Column:
    """Condition on records: the record belongs to one of the messages.  It suits few messages.

    `messages`: topic, partition, offset.
    """
    found = messages.select("topic", "partition", "offset").limit(_MOST_RANGES + 1).collect()
    if len(found) > _MOST_RANGES:
        return F.lit(True)
    return _any_of(
        (F.col("topic") == message.topic)
        & (F.col("partition") == message.partition)
        & (F.col("offset") == message.offset)
        for message in found
    )


def near_deliveries(deliveries: DataFrame) -> Column:
    """Condition on records: the record may be a redelivery of a delivery, or its other half.

    All deliveries of a record share its format, its `delivery_position`, and whether it belongs to
    a full load.  Each topic has ranges of its own, and a wide gap between positions begins a new
    range.  Otherwise one old redelivery would make a run read everything from there to now.

    `deliveries`: source_format, topic, op, delivery_position.
    """
    found = deliveries.select(
        "source_format",
        "topic",
        F.col("op").eqNullSafe("snapshot").alias("is_snapshot"),
        "delivery_position",
    )
    ranges = _position_ranges(found, _PIECES).limit(_MOST_RANGES + 1).collect()
    if len(ranges) > _MOST_RANGES:
        ranges = _position_ranges(found.withColumn("topic", F.lit("")), 1).collect()
    position = F.col("delivery_position")
    return _any_of(
        (F.col("source_format") == found.source_format)
        & (F.col("op").eqNullSafe("snapshot") == F.lit(found.is_snapshot))
        & (
            position.isNull()
            if found.first is None
            else position.between(F.lit(found.first), F.lit(found.last))
        )
        for found in ranges
    )


def _position_ranges(deliveries: DataFrame, pieces: int) -> DataFrame:
    """source_format, is_snapshot, first, last; the last two are null without a position."""
    place = ("source_format", "topic", "is_snapshot")
    number = F.col("delivery_position").cast("double")
    spans = deliveries.groupBy(*place).agg(
        F.min(number).alias("lowest"), F.max(number).alias("highest")
    )
    piece = F.width_bucket(number, F.col("lowest"), F.col("highest"), F.lit(pieces))
    return (
        deliveries.join(spans, list(place))
        .groupBy(*place, F.col("delivery_position").isNull().alias("has_none"), piece)
        .agg(F.min("delivery_position").alias("first"), F.max("delivery_position").alias("last"))
        .select("source_format", "is_snapshot", "first", "last")
    )


def _any_of(conditions: Iterable[Column]) -> Column:
    return reduce(Column.__or__, conditions, F.lit(False))
