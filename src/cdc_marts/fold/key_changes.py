"""The effects that may cause a key collision: two rows have the same key for a moment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.ranges import at_positions_of, in_transactions_of
from cdc_marts.fold.rules import is_of_format_that, transaction_of_effect
from cdc_marts.identifying_columns import KEY, TABLE

_COLUMNS = (
    *KEY,
    "topic",
    "op",
    "event_id",
    "transaction_id",
    "event_at",
    "message_position",
    "sequence",
    "is_key_change",
    "effect",
)
_IN_TRANSACTION = (*TABLE, "transaction")
#: A delete and an insert that are equal in these may be one key change. Their topics may differ: if
#: one topic delivers changes of another topic again, only new changes count there. The position is
#: that of the messages, which has not been raised.
_AT_ONE_POSITION = (*_IN_TRANSACTION, "position")
_KEY_IN_TRANSACTION = (*KEY, "transaction")


def key_changes(
    new_effects: DataFrame,
    *,
    effects: DataFrame,
    new_revised_keys: DataFrame,
    message_places: DataFrame,
    earlier: DataFrame | None,
) -> DataFrame:
    """Return the effects of key changes, and effects of other rows on their keys.

    Of the other effects, inserts and deletes in the transaction of the key change count: if a
    database checks uniqueness at the end of a transaction, a row may come to a key before another
    row leaves it. If a format is ordered by landing, all effects of other partitions at the
    position of the key change count: their order is not known.

    If a format reports a key change as a delete and an insert, these two have one place in the log.
    So in such a format, inserts and deletes count that share the place with one another, or the key
    and the transaction.

    `new_effects`: the effects that no run has read; `effects`: all effects, including the new ones.
    Both have the columns of `int_row_effects`. `new_revised_keys`: new rows of the model
    `int_revised_keys`; all effects on these keys are listed again. `message_places`: the model.
    `earlier`: what earlier runs returned; None in the first run.

    The result has the columns of `int_key_changes`.
    """
    new_effects = new_effects.where("not is_keyless")
    if earlier is None:
        # Only records with one of these change a key. Iceberg skips files without any.
        may_change = new_effects.where(
            "record_previous_row_key is not null or pairing_id is not null"
        )
        changing = _changing(may_change.select(*_COLUMNS))
        in_pairs = _in_pairs(_members(new_effects.select(*_COLUMNS)))
        return _union(changing, *_beside(changing, new_effects, message_places), in_pairs)
    effects = effects.where("not is_keyless")
    looked_at = _looked_at(new_effects, effects, new_revised_keys)
    changing = _changing(looked_at)
    return _union(
        changing,
        *_beside(changing, effects, message_places),
        *_in_new_pairs(looked_at, effects),
        *_beside_earlier(earlier, looked_at),
    )


def keys_changed_beside(
    new_effects: DataFrame, new_exceptions: DataFrame, key_changes: DataFrame
) -> DataFrame:
    """Return inserts at new positions: each may now belong to another split key change, or to none.

    If another change stands between the delete and the insert, they are no key change. Only a
    redelivery may show that an insert follows its delete.

    `new_effects`: with the columns of `int_row_effects`; `new_exceptions`: with the columns of
    `int_exceptional_records`; `key_changes`: the model `int_key_changes`.
    """
    redelivered = new_exceptions.where("exception = 'redelivery'")
    beside = new_effects.select(*TABLE, "message_position").unionByName(
        redelivered.select(*TABLE, F.col("delivery_position").alias("message_position"))
    )
    inserts = key_changes.where("op = 'insert'")
    return inserts.join(beside, [*TABLE, "message_position"], "left_semi")


def _union(*listed: DataFrame) -> DataFrame:
    return reduce(DataFrame.unionByName, listed).distinct()


def _changing(effects: DataFrame) -> DataFrame:
    """Return the effects of key changes. They are few, and used several times."""
    return effects.where("is_key_change").transform(checkpointed)


def _looked_at(
    new_effects: DataFrame, effects: DataFrame, new_revised_keys: DataFrame
) -> DataFrame:
    """Return the new effects, and all effects on the revised keys."""
    revised_keys = new_revised_keys.where("not is_keyless").select(*KEY).distinct()
    if not revised_keys.isEmpty():
        new_effects = new_effects.unionByName(effects.join(revised_keys, [*KEY], "left_semi"))
    # Used several times: with a checkpoint, Spark plans it once.
    return new_effects.select(*_COLUMNS).transform(checkpointed)


def _beside(changing: DataFrame, effects: DataFrame, message_places: DataFrame) -> list[DataFrame]:
    """Return the effects of other rows on the keys of key changes."""
    unordered = changing.where(is_of_format_that("ordered_by_landing"))
    found = []
    transactions = in_transactions_of(changing)
    if transactions is not None:
        near = effects.where(_is_insert_or_delete() & transactions)
        found.append(_beside_in_transaction(changing, near))
    positions = at_positions_of(unordered, message_places)
    if positions is not None:
        found.append(_beside_at_position(unordered, effects.where(positions)))
    return found


def _beside_earlier(earlier: DataFrame, looked_at: DataFrame) -> list[DataFrame]:
    """Return the effects of other rows on the keys of key changes that earlier runs listed."""
    changing = earlier.where("is_key_change")
    unordered = changing.where(is_of_format_that("ordered_by_landing"))
    return [
        _beside_in_transaction(changing, looked_at.where(_is_insert_or_delete())),
        _beside_at_position(unordered, looked_at),
    ]


def _in_new_pairs(looked_at: DataFrame, effects: DataFrame) -> list[DataFrame]:
    """Return the pairs of `_in_pairs` of which at least one effect is looked at."""
    new_members = _members(looked_at)
    transactions = in_transactions_of(new_members)
    if transactions is None:
        return []
    members = _members(effects.where(transactions)).select(*_COLUMNS)
    return [_in_pairs(members.transform(checkpointed), new_members)]


def _members(effects: DataFrame) -> DataFrame:
    """Return the inserts and deletes, in formats that report a key change as these two."""
    return effects.where(_is_insert_or_delete() & is_of_format_that("splits_key_changes"))


def _is_insert_or_delete() -> Column:
    return F.col("op").isin("insert", "delete") & ~F.col("is_key_change")


def _beside_in_transaction(changing: DataFrame, effects: DataFrame) -> DataFrame:
    """Return the effects that share key and transaction with one of the key changes."""
    changing = changing.withColumn("transaction", transaction_of_effect()).select(
        *_KEY_IN_TRANSACTION
    )
    return (
        effects.withColumn("transaction", transaction_of_effect())
        .join(changing.distinct(), [*_KEY_IN_TRANSACTION], "left_semi")
        .select(*_COLUMNS)
    )


def _beside_at_position(changing: DataFrame, effects: DataFrame) -> DataFrame:
    """Return the effects that share key and position with a key change of another partition."""
    is_there = [
        F.col(f"effect.{name}") == F.col(f"changing.{name}") for name in (*KEY, "sequence.position")
    ]
    is_elsewhere = [
        F.col(f"effect.{name}") != F.col(f"changing.{name}")
        for name in ("topic", "sequence.partition")
    ]
    condition = reduce(Column.__and__, is_there) & reduce(Column.__or__, is_elsewhere)
    found = effects.alias("effect").join(changing.alias("changing"), condition, "left_semi")
    return found.select(*_COLUMNS)


def _in_pairs(members: DataFrame, new_members: DataFrame | None = None) -> DataFrame:
    """Return the inserts and deletes that share place, or key and transaction, with one another.

    `new_members`: if given, at least one of the two is among these.
    """
    members = _with_transaction_and_position(members)
    # Most transactions have only inserts or only deletes.
    mixed = members.groupBy(*_IN_TRANSACTION).agg((F.min("op") != F.max("op")).alias("has_both"))
    members = members.join(mixed.where("has_both"), [*_IN_TRANSACTION], "left_semi")
    members = checkpointed(members)
    sides = [(members, members)]
    if new_members is not None:
        new_members = _with_transaction_and_position(new_members)
        sides = [(new_members, members), (members, new_members)]
    pairs = [_with_opposites(*side, _AT_ONE_POSITION) for side in sides]
    pairs += [
        _with_opposites(one.where("transaction_id is not null"), other, _KEY_IN_TRANSACTION)
        for one, other in sides
    ]
    return reduce(DataFrame.unionByName, pairs).select(*_COLUMNS)


def _with_transaction_and_position(members: DataFrame) -> DataFrame:
    """Add transaction and position, never null: in a join, two nulls are not equal."""
    return members.withColumns(
        {
            "transaction": F.coalesce(transaction_of_effect(), F.lit("")),
            "position": F.coalesce("message_position", F.lit(-1)),
        }
    )


def _with_opposites(effects: DataFrame, others: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return the inserts that are equal to a delete of `others` in some columns, and vice versa."""
    opposite = F.when(F.col("op") == "insert", "delete").otherwise("insert")
    others = others.select(*columns, opposite.alias("op"))
    return effects.join(others, [*columns, "op"], "left_semi")
