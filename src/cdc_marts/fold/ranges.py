"""Conditions for reading earlier parts of the log.

They are made of literals, so that Iceberg skips files and Spark leaves out rows while it scans.
Without them, Spark would join all rows of the log with the rows to look for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from dbt.adapters.spark_session.api import HashSet
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from cdc_marts.checkpoints import broadcast_if_few
from cdc_marts.identifying_columns import KEY, TABLE

#: With more ranges or literals than this, a condition has wider ranges, or holds for all rows.
#: If a list has more literals, Iceberg skips no file by it.
_MOST_RANGES = 200
#: Up to so many messages are listed one by one, in lists of `_MOST_RANGES`.
_MOST_MESSAGES = 1_000
#: The positions of a topic are cut into this many parts, and empty parts are left out.
_PIECES = 16


def in_tables_of(rows: DataFrame) -> Column:
    """Return the condition that rows are of the table of one of some rows.

    It may also hold for other tables of the same formats.

    `rows`: source_format, table_id.
    """
    return _any_of(
        (F.col("source_format") == group.source_format) & has_value(F.col("table_id"))
        for group, has_value in _values_of(rows, ["source_format"], F.col("table_id")).of_groups
    )


def has_key_of(keys: DataFrame, *names: str) -> Column:
    """Return the condition that one of the columns `names` of a row has one of some keys.

    It may also hold for other rows.

    `keys`: source_format, table_id, row_key.
    """
    hashes = HashSet.of(keys, KEY)
    if hashes is None:
        return F.lit(True)
    return reduce(Column.__or__, (F.expr(hashes.may_hold([*TABLE, name])) for name in names))


def has_effect_on(keys: DataFrame, exceptional_records: DataFrame) -> Column:
    """Return the condition that the record of an effect has an effect on one of some keys.

    It is for tables with keys. It may also hold for other effects.

    `keys`: source_format, table_id, row_key. `exceptional_records`: the model. It names the key
    that only the other half of a split update has.
    """
    split = exceptional_records.where("exception = 'split_update'")
    on_old_keys = split.join(
        keys.withColumnRenamed("row_key", "old_row_key"), [*TABLE, "old_row_key"], "left_semi"
    ).select(*TABLE, F.explode("row_keys").alias("row_key"))
    return has_key_of(
        keys.select(*KEY).unionByName(on_old_keys), "record_row_key", "record_previous_row_key"
    )


def effects_on(keys: DataFrame, effects: DataFrame, exceptional_records: DataFrame) -> DataFrame:
    """Return the effects on some keys. Spark leaves out most others while it scans the log.

    `keys`: source_format, table_id, row_key, as a checkpoint. `effects`: with the columns of
    `int_row_effects`. `exceptional_records`: as in `has_effect_on`.
    """
    near = effects.where(in_tables_of(keys)).where(has_effect_on(keys, exceptional_records))
    return near.join(broadcast_if_few(keys), [*KEY], "left_semi")


def is_one_of(messages: DataFrame) -> Column:
    """Return the condition that a record belongs to one of the messages.

    It may also hold for other records.

    `messages`: topic, partition, offset.
    """
    partitions = _values_of(
        messages, ["topic", "partition"], F.col("offset"), most_values=_MOST_MESSAGES
    )
    in_partitions = _any_of(
        (F.col("topic") == group.topic)
        & (F.col("partition") == group.partition)
        & has_value(F.col("offset"))
        for group, has_value in partitions.of_groups
    )
    are_few = len(partitions.of_groups) <= _MOST_RANGES
    if are_few and partitions.are_listed:
        return in_partitions
    coordinates = ("topic", "`partition`", "offset")
    hashes = HashSet.of(messages, coordinates)
    has_hash = F.lit(True) if hashes is None else F.expr(hashes.may_hold(coordinates))
    return in_partitions & has_hash if are_few else has_hash


def behind_loads(loads: DataFrame) -> Column:
    """Return the condition that a change has a higher offset than loads, but a lower position.

    It is about the loads of the partition, of any table. It may also hold for other changes.

    `loads`: topic, partition, first_offset, load_position.
    """
    position = F.col("message_position")
    return _in_partitions(
        loads,
        [F.min("first_offset").alias("first"), F.max("load_position").alias("highest")],
        lambda span: (
            (F.col("offset") > span.first) & (position.isNull() | (position < F.lit(span.highest)))
        ),
    )


def ahead_of(changes: DataFrame) -> Column:
    """Return the condition that a change has a lower offset than others, but a higher position.

    It is about the changes of the partition, of any table. It may also hold for other changes.

    `changes`: topic, partition, offset, message_position.
    """
    return _in_partitions(
        changes,
        [F.max("offset").alias("last"), F.min("message_position").alias("lowest")],
        lambda span: (
            (F.col("offset") < span.last) & (F.col("message_position") > F.lit(span.lowest))
        ),
    )


def _in_partitions(
    rows: DataFrame, spans: Sequence[Column], is_within: Callable[[Row], Column]
) -> Column:
    """Return the condition that a record is within the span of the rows of its partition."""
    found = rows.groupBy("topic", "partition").agg(*spans).limit(_MOST_RANGES + 1).collect()
    if len(found) > _MOST_RANGES:
        return F.lit(True)
    return _any_of(
        (F.col("topic") == span.topic) & (F.col("partition") == span.partition) & is_within(span)
        for span in found
    )


def at_positions_of(effects: DataFrame, message_places: DataFrame) -> Column | None:
    """Return the condition that an effect has the position of one of some effects.

    It may also hold for other effects. None if no effect with a position is given.

    `effects`: source_format, sequence. `message_places`: the model. It gives the places of messages
    that don't contain their own.
    """
    is_there = _has_value_of(effects, F.col("sequence.position"))
    if is_there is None:
        return None
    messages_there = message_places.where(is_there("position"))
    return is_there("message_position") | is_one_of(messages_there)


def at_message_positions_of(effects: DataFrame) -> Column | None:
    """Return the condition that the message of an effect has the position of one of some messages.

    None if no effect with a position is given. `effects`: source_format, message_position.
    """
    is_there = _has_value_of(effects, F.col("message_position"))
    return None if is_there is None else is_there("message_position")


def _has_value_of(effects: DataFrame, position: Column) -> Callable[[str], Column] | None:
    """Return a function from a column to the condition that it has a position of the effects."""
    positions = _values_of(effects.where(position.isNotNull()), ["source_format"], position)
    if not positions.of_groups:
        return None

    def is_there(column: str) -> Column:
        return _any_of(
            (F.col("source_format") == group.source_format) & has_value(F.col(column))
            for group, has_value in positions.of_groups
        )

    return is_there


def in_transactions_of(effects: DataFrame) -> Column | None:
    """Return the condition that an effect is in the transaction of one of some effects.

    If messages name no transaction, changes of one time count as one transaction. The condition may
    also hold for other effects. None if no effects are given.

    `effects`: source_format, transaction_id, event_at.
    """
    transaction_id, at = F.col("transaction_id"), F.col("event_at")
    is_named = transaction_id.isNotNull()
    named = _values_of(effects.where(is_named), ["source_format"], transaction_id).of_groups
    micros = F.unix_micros(at)
    timed = _values_of(effects.where(~is_named), ["source_format"], micros, _time_literal).of_groups
    if not named and not timed:
        return None

    def of_format(group: Row) -> Column:
        return F.col("source_format") == group.source_format

    return _any_of(
        [of_format(group) & has_value(transaction_id) for group, has_value in named]
        + [
            of_format(group) & ~is_named & (at.isNull() | has_value(at))
            for group, has_value in timed
        ]
    )


def _time_literal(micros: int) -> Column:
    return F.timestamp_micros(F.lit(micros))


@dataclass(frozen=True, slots=True)
class _Values:
    """Groups of rows, each with a condition: a column has one of the group's values."""

    of_groups: list[tuple[Row, Callable[[Column], Column]]]
    #: whether the conditions list all values; otherwise, they are ranges
    are_listed: bool


def _values_of(
    rows: DataFrame,
    groups: Sequence[str],
    value: Column,
    literal: Callable[[Any], Column] = F.lit,
    most_values: int | None = None,
) -> _Values:
    """Return the values of some rows, by groups.

    Spark looks a value up in a set of literals, however many there are. If there are too many
    values, the condition is that the column is between the first and the last one of the group.
    """
    most_values = most_values or _MOST_RANGES
    valued = rows.select(*groups, value.alias("value"))
    found = valued.distinct().limit(most_values + 1).collect()
    if len(found) <= most_values:
        of_groups: dict[tuple[Any, ...], tuple[Row, list[Column]]] = {}
        for row in sorted(found, key=lambda row: (row.value is not None, row.value)):
            _, values = of_groups.setdefault(tuple(row[name] for name in groups), (row, []))
            if row.value is not None:
                values.append(literal(row.value))
        return _Values(
            [(row, partial(_is_among, values)) for row, values in of_groups.values()],
            are_listed=True,
        )
    ends = valued.groupBy(*groups).agg(F.min("value").alias("first"), F.max("value").alias("last"))
    return _Values(
        [
            (row, partial(_is_between, literal(row.first), literal(row.last)))
            for row in ends.collect()
        ],
        are_listed=False,
    )


def _is_among(values: Sequence[Column], column: Column) -> Column:
    lists = (values[n : n + _MOST_RANGES] for n in range(0, len(values), _MOST_RANGES))
    return _any_of(column.isin(*one) for one in lists)


def _is_between(first: Column, last: Column, column: Column) -> Column:
    return column.between(first, last)


def near_deliveries(deliveries: DataFrame) -> Column:
    """Return the condition that a record may be a redelivery of a delivery, or its other half.

    All deliveries of a record share its format, its `delivery_position`, and whether it belongs to
    a full load. Each topic has ranges of its own, and a wide gap between positions begins a new
    range. Otherwise one old redelivery would make a run read everything from there to now.

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
        (F.col("source_format") == range_.source_format)
        & (F.col("op").eqNullSafe("snapshot") == F.lit(range_.is_snapshot))
        & (
            position.isNull()
            if range_.first is None
            else position.between(F.lit(range_.first), F.lit(range_.last))
        )
        for range_ in ranges
    )


def _position_ranges(deliveries: DataFrame, pieces: int) -> DataFrame:
    """Return source_format, is_snapshot, first, last; the last two are null without a position."""
    groups = ("source_format", "topic", "is_snapshot")
    number = F.col("delivery_position").cast("double")
    spans = deliveries.groupBy(*groups).agg(
        F.min(number).alias("lowest"), F.max(number).alias("highest")
    )
    piece = F.width_bucket(number, F.col("lowest"), F.col("highest"), F.lit(pieces))
    return (
        deliveries.join(spans, list(groups))
        .groupBy(*groups, F.col("delivery_position").isNull().alias("has_none"), piece)
        .agg(F.min("delivery_position").alias("first"), F.max("delivery_position").alias("last"))
        .select("source_format", "is_snapshot", "first", "last")
    )


def _any_of(conditions: Iterable[Column]) -> Column:
    return reduce(Column.__or__, conditions, F.lit(False))
