"""The effects that may cause a key collision: two rows have the same key for a moment."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.fold.formats import Traits, is_of_format_that

_KEY = ("source_format", "table_id", "row_key")
_COLUMNS = (
    *_KEY,
    "topic",
    "op",
    "event_id",
    "transaction_id",
    "event_at",
    "sequence",
    "is_key_change",
    "effect",
)
#: For more transactions, one condition covers the whole range from the first to the last.
_MOST_TRANSACTIONS = 200


def key_changes(
    new_effects: DataFrame,
    effects: DataFrame,
    revised_keys: DataFrame,
    known: DataFrame | None,
    formats: Traits,
) -> DataFrame:
    """The effects of key changes, and the inserts and deletes of other rows on their keys.

    Only inserts and deletes in the transaction of the key change count: if a database checks
    uniqueness at the end of a transaction, a row may come to a key before another row leaves it.
    If a format reports a key change as a delete and an insert, all its inserts and deletes count.

    `new_effects`: the effects that no run has read; `effects`: all effects, including the new ones.
    Both have the columns of `int_row_effects`.  `revised_keys`: source_format, table_id, row_key of
    keys whose earlier effects have changed; all effects on them are listed again.  `known`: what
    earlier runs returned; None in the first run.

    Returns the columns of `int_key_changes`.
    """
    looked_at, effects = (frame.where("not is_keyless") for frame in (new_effects, effects))
    if known is not None and not revised_keys.isEmpty():
        looked_at = looked_at.unionByName(effects.join(revised_keys, [*_KEY], "left_semi"))
    looked_at = looked_at.select(*_COLUMNS)
    if known is not None:
        # It is used several times: with a checkpoint, Spark plans it once.
        looked_at = looked_at.localCheckpoint()
    is_insert_or_delete = F.col("op").isin("insert", "delete")
    is_listed_too = is_insert_or_delete & is_of_format_that(
        formats, "moves_rows_by_delete_and_insert"
    )
    # These are few, and used several times.
    of_key_changes = looked_at.where("is_key_change").localCheckpoint()
    moves = _moves(of_key_changes)
    transactions = _transactions_of(moves)
    listed = of_key_changes.unionByName(looked_at.where(is_listed_too & ~F.col("is_key_change")))
    beside = is_insert_or_delete & ~F.col("is_key_change") & ~is_listed_too
    if transactions is not None:
        listed = listed.unionByName(_on_keys_of(moves, effects.where(beside & transactions)))
    if known is not None:
        listed = listed.unionByName(_on_keys_of(_moves(known), looked_at.where(beside)))
    return listed.distinct()


def _moves(effects: DataFrame) -> DataFrame:
    """The keys that key changes touch, with their transactions."""
    return (
        effects.where("is_key_change")
        .select(
            *_KEY,
            _transaction().alias("transaction"),
            "transaction_id",
            F.unix_micros("event_at").alias("event_micros"),
        )
        .distinct()
    )


def _transaction() -> Column:
    """As the macro `transaction_of_effect`."""
    return F.coalesce("transaction_id", F.col("event_at").cast("string"))


def _on_keys_of(moves: DataFrame, effects: DataFrame) -> DataFrame:
    """The effects that share key and transaction with one of the key changes."""
    return (
        effects.withColumn("transaction", _transaction())
        .join(moves, [*_KEY, "transaction"], "left_semi")
        .select(*_COLUMNS)
    )


def _transactions_of(moves: DataFrame) -> Column | None:
    """Condition on effects, made of literals: the effect is in a transaction of a key change.

    It may also hold for effects of other transactions.  None if there are no transactions.
    """
    place = ("source_format", "transaction_id", "event_micros")
    found = moves.select(*place).distinct().limit(_MOST_TRANSACTIONS + 1).collect()
    if len(found) <= _MOST_TRANSACTIONS:
        ranges = [
            (row.source_format, *2 * (row.transaction_id,), *2 * (row.event_micros,))
            for row in found
        ]
    else:
        spans = moves.groupBy("source_format", F.col("transaction_id").isNull()).agg(
            F.min("transaction_id"),
            F.max("transaction_id"),
            F.min("event_micros"),
            F.max("event_micros"),
        )
        ranges = [(row[0], *row[2:]) for row in spans.collect()]
    return _any_of(
        (F.col("source_format") == source_format)
        & (
            F.col("transaction_id").between(first_id, last_id)
            if first_id is not None
            else F.col("transaction_id").isNull()
            & F.col("event_at").between(*(F.timestamp_micros(F.lit(at)) for at in times))
        )
        for source_format, first_id, last_id, *times in ranges
        if first_id is not None or times[0] is not None
    )


def _any_of(conditions: Iterable[Column]) -> Column | None:
    found = list(conditions)
    return reduce(Column.__or__, found) if found else None
