"""The effects that may cause a key collision: two rows have the same key for a moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
_IN_TRANSACTION = ("source_format", "table_id", "transaction")
#: A delete and an insert that are equal in these may be one key change.
_PLACE = (*_IN_TRANSACTION, "topic", "position")
_KEY_IN_TRANSACTION = (*_KEY, "transaction")
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
    If a format reports a key change as a delete and an insert, these two have one place in the log.
    So of such a format, inserts and deletes count that share the place with one another, or the key
    and the transaction.

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
    is_beside = F.col("op").isin("insert", "delete") & ~F.col("is_key_change")
    is_half = is_beside & is_of_format_that(formats, "moves_rows_by_delete_and_insert")
    # These are few, and used several times.
    listed = looked_at.where("is_key_change").localCheckpoint()
    moves, halves = _moves(listed), looked_at.where(is_half)
    transactions = _transactions_of(listed)
    if transactions is not None:
        listed = listed.unionByName(_on_keys_of(moves, effects.where(is_beside & transactions)))
    if known is None:
        return listed.unionByName(_in_pairs(halves)).distinct()
    transactions = _transactions_of(halves)
    if transactions is not None:
        all_halves = effects.where(is_half & transactions).select(*_COLUMNS).localCheckpoint()
        listed = listed.unionByName(_in_pairs(all_halves, halves))
    return listed.unionByName(_on_keys_of(_moves(known), looked_at.where(is_beside))).distinct()


def _moves(effects: DataFrame) -> DataFrame:
    """The keys that key changes touch, with their transactions."""
    moves = effects.where("is_key_change").select(*_KEY, _transaction().alias("transaction"))
    return moves.distinct()


def _transaction() -> Column:
    """As the macro `transaction_of_effect`."""
    return F.coalesce("transaction_id", F.col("event_at").cast("string"))


def _on_keys_of(moves: DataFrame, effects: DataFrame) -> DataFrame:
    """The effects that share key and transaction with one of the key changes."""
    return (
        effects.withColumn("transaction", _transaction())
        .join(moves, [*_KEY_IN_TRANSACTION], "left_semi")
        .select(*_COLUMNS)
    )


def _in_pairs(halves: DataFrame, new_halves: DataFrame | None = None) -> DataFrame:
    """The inserts and deletes that share place, or key and transaction, with one another.

    `new_halves`: if given, one of the two is among these.
    """
    halves = _placed(halves)
    # Most transactions have only inserts or only deletes.
    mixed = halves.groupBy(*_IN_TRANSACTION).agg((F.min("op") != F.max("op")).alias("has_both"))
    halves = halves.join(mixed.where("has_both"), [*_IN_TRANSACTION], "left_semi")
    halves = halves.localCheckpoint()
    sides = [(halves, halves)]
    if new_halves is not None:
        new_halves = _placed(new_halves)
        sides = [(new_halves, halves), (halves, new_halves)]
    pairs = [_with_opposites(*side, _PLACE) for side in sides]
    pairs += [
        _with_opposites(one.where("transaction_id is not null"), other, _KEY_IN_TRANSACTION)
        for one, other in sides
    ]
    return reduce(DataFrame.unionByName, pairs).select(*_COLUMNS)


def _placed(halves: DataFrame) -> DataFrame:
    """With transaction and position, never null: to a join, two nulls are not equal."""
    return halves.withColumns(
        {
            "transaction": F.coalesce(_transaction(), F.lit("")),
            "position": F.coalesce("sequence.position", F.lit(-1)),
        }
    )


def _with_opposites(effects: DataFrame, others: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The inserts with which a delete of `others` is equal in some columns, and vice versa."""
    opposite = F.when(F.col("op") == "insert", "delete").otherwise("insert")
    others = others.select(*columns, opposite.alias("op"))
    return effects.join(others, [*columns, "op"], "left_semi")


def _transactions_of(effects: DataFrame) -> Column | None:
    """Condition on effects, made of literals: one of the given effects is in its transaction.

    It may also hold for effects of other transactions.  None if no effects are given.
    """
    timed = effects.select(
        "source_format", "transaction_id", F.unix_micros("event_at").alias("event_micros")
    )
    found = timed.distinct().limit(_MOST_TRANSACTIONS + 1).collect()
    if len(found) <= _MOST_TRANSACTIONS:
        ranges = [
            (row.source_format, *2 * (row.transaction_id,), *2 * (row.event_micros,))
            for row in found
        ]
    else:
        spans = timed.groupBy("source_format", F.col("transaction_id").isNull()).agg(
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
            else F.col("transaction_id").isNull() & _is_between(*times)
        )
        for source_format, first_id, last_id, *times in ranges
    )


def _is_between(first_micros: int | None, last_micros: int | None) -> Column:
    """Whether `event_at` is in a range, or null."""
    at = F.col("event_at")
    if first_micros is None or last_micros is None:
        return at.isNull()
    return at.isNull() | at.between(
        F.timestamp_micros(F.lit(first_micros)), F.timestamp_micros(F.lit(last_micros))
    )


def _any_of(conditions: Iterable[Column]) -> Column | None:
    found = list(conditions)
    return reduce(Column.__or__, found) if found else None
