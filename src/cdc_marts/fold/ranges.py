"""Conditions for reading earlier parts of the log, made of literals so that Spark skips files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

#: If there would be more ranges than this, fewer and wider ranges are used.
_MOST_RANGES = 200
#: The positions of a topic are cut into this many parts, and empty parts are left out.
_PIECES = 16
_ENDS = {"first": F.min, "last": F.max}


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


def in_tables_of(rows: DataFrame) -> Column:
    """Condition on rows: they are of the table of one of some rows.

    It may also hold for other tables of the same formats.

    `rows`: source_format, table_id.
    """
    ranges = _value_ranges(rows, ["source_format"], ["table_id"])
    return _any_of(
        (F.col("source_format") == found.source_format)
        & F.col("table_id").between(found.first_table_id, found.last_table_id)
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


def at_positions_of(effects: DataFrame, message_places: DataFrame) -> Column | None:
    """Condition on effects: the effect has the position of one of some effects.

    It may also hold for other effects.  None if no effect with a position is given.

    `effects`: source_format, sequence.  `message_places`: as the model.  It says where a message
    stands whose own position does not.
    """
    positions = effects.select("source_format", "sequence.position").where("position is not null")
    ranges = _value_ranges(positions, ["source_format"], ["position"])
    if not ranges:
        return None

    def is_in_ranges(position: str) -> Column:
        return _any_of(
            (F.col("source_format") == found.source_format)
            & F.col(position).between(F.lit(found.first_position), F.lit(found.last_position))
            for found in ranges
        )

    messages_there = message_places.where(is_in_ranges("position"))
    return is_in_ranges("message_position") | in_ranges_of(messages_there)


def in_transactions_of(effects: DataFrame) -> Column | None:
    """Condition on effects: the effect is in the transaction of one of some effects.

    If messages name no transaction, changes of one time count as one transaction.  The condition
    may also hold for other effects.  None if no effects are given.

    `effects`: source_format, transaction_id, event_at.
    """
    transactions = effects.select(
        "source_format",
        "transaction_id",
        F.col("transaction_id").isNotNull().alias("has_id"),
        F.unix_micros("event_at").alias("micros"),
    )
    ranges = _value_ranges(transactions, ["source_format", "has_id"], ["transaction_id", "micros"])
    if not ranges:
        return None
    transaction_id = F.col("transaction_id")
    return _any_of(
        (F.col("source_format") == found.source_format)
        & (
            transaction_id.between(found.first_transaction_id, found.last_transaction_id)
            if found.has_id
            else transaction_id.isNull() & _is_timed_between(found.first_micros, found.last_micros)
        )
        for found in ranges
    )


def _is_timed_between(first_micros: int | None, last_micros: int | None) -> Column:
    """Whether `event_at` is in a range, or null."""
    at = F.col("event_at")
    if first_micros is None or last_micros is None:
        return at.isNull()
    return at.isNull() | at.between(
        F.timestamp_micros(F.lit(first_micros)), F.timestamp_micros(F.lit(last_micros))
    )


def _value_ranges(rows: DataFrame, groups: Sequence[str], columns: Sequence[str]) -> list[Row]:
    """Ranges with all values of some columns: each value alone, or if these are too many, all.

    Returns the groups, and for each column `first_` and `last_` of its name.
    """
    ends = [end(name).alias(f"{side}_{name}") for name in columns for side, end in _ENDS.items()]
    found = rows.groupBy(*groups, *columns).agg(*ends).limit(_MOST_RANGES + 1).collect()
    return found if len(found) <= _MOST_RANGES else rows.groupBy(*groups).agg(*ends).collect()


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
