"""Exceptional records: their effect on rows differs from what the record alone says.

- `redelivery`: another delivery of the record landed first, so this one has no effect.
- `split_update`: the record is the `update_after` of a split update, and the `update_before` has
  another key, or the table is keyless. The update also deletes the row of `old_row_key`. A
  keyless row takes the columns that it lacks from the `update_before` (`filled_row_key`).
- `replacement`: the place of the message has changed since an earlier run.

`is_revision` says that an earlier run read the record with another result. Then everything that
depends on the keys in `row_keys` is computed again.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.ranges import is_one_of, near_deliveries
from cdc_marts.fold.rules import filled_row_key, is_of_format_that, takes_columns_of_half
from cdc_marts.identifying_columns import MESSAGE
from cdc_marts.parsing.ops import ROW_RECORDS

#: The columns that identify an event of a row of a message. A load that repairs the table gives
#: the row another event_id, so it counts as another record.
_RECORD = (*MESSAGE, "row_index", "event_id")

_COLUMNS = (
    *_RECORD,
    "exception",
    "table_id",
    "row_keys",
    "old_row_key",
    "schema_id",
    "is_keyless",
    "op",
    "delivery_position",
    "is_revision",
)


def exceptional_records(
    new_records: DataFrame,
    *,
    records: DataFrame,
    new_raises: DataFrame,
    new_reloads: DataFrame,
    earlier: DataFrame | None,
) -> DataFrame:
    """Return the exceptions of new records, and those of earlier records that new records reveal.

    `new_records`: the records that no run has read; `records`: all records, including the new ones.
    Both have the columns of `int_records`. `new_raises`, `new_reloads`: new rows of the models
    `int_raised_messages` and `int_reloaded_messages`, which may move messages of earlier runs to
    another place. `earlier`: what earlier runs returned; None in the first run, in which all
    records are new.
    """
    new = _described(new_records)
    if earlier is None:
        deliveries, halves = _deliveries(new), _halves(new)
        return _union(_redeliveries(None, deliveries), _split_updates(None, halves))
    # DataFrames that are used several times are checkpointed, so that Spark plans them once.
    new = checkpointed(new)
    revised = new_raises.where("is_revision")
    replaced_messages = revised.select(*MESSAGE).union(new_reloads.select(*MESSAGE)).distinct()
    replaced = (
        _described(_of_messages(records, replaced_messages))
        .join(new, [*_RECORD], "left_anti")
        .transform(checkpointed)
    )
    # In its new place, a record may be another event, and a redelivery of other records.
    looked_at = new.unionByName(replaced)
    deliveries, halves = _deliveries(looked_at), _halves(looked_at)
    # Other deliveries and halves stand near the positions of these.
    near = near_deliveries(deliveries.unionByName(halves, allowMissingColumns=True))
    near_records = _described(records.where(near)).transform(checkpointed)
    near_earlier = earlier.where(near)
    return _union(
        _without_earlier(
            _with_earlier_keys(_redeliveries(deliveries, _deliveries(near_records)), near_earlier),
            near_earlier,
        ),
        _without_earlier(_split_updates(halves, _halves(near_records)), near_earlier),
        _replacements(replaced),
    )


def _described(records: DataFrame) -> DataFrame:
    """Return the records of row changes, with the columns that an exception keeps."""
    return records.where(F.col("record_type").isin(*ROW_RECORDS)).select(
        *_RECORD,
        "record_type",
        "table_id",
        "row_key",
        "previous_row_key",
        "schema_id",
        "is_keyless",
        "op",
        "message_event_id",
        "pairing_id",
        "delivery_position",
        F.struct("landing_commit", "topic", "partition", "offset", "row_index").alias("landing"),
    )


def _of_messages(records: DataFrame, messages: DataFrame) -> DataFrame:
    return records.where(is_one_of(messages)).join(messages, [*MESSAGE], "left_semi")


def _deliveries(records: DataFrame) -> DataFrame:
    """Return the records with a `delivery_id`, by which their redeliveries are recognized.

    Records whose `event_id` is made of coordinates are left out; such an id has a colon. An
    `update_before` is recognized by its `pairing_id`; a prefix keeps it apart from other ids.

    A row of a load that repairs the table is there twice: by its `event_id`, and by that of its
    message (`is_former`). By the latter, it is no redelivery, but others may be redeliveries of it.
    """
    delivery_id = F.when(
        F.col("record_type") == "update_before", F.concat(F.lit("before "), F.col("pairing_id"))
    ).when(F.instr("event_id", ":") == 0, F.col("event_id"))
    known_by_id = records.where(~is_of_format_that("known_by_coordinates"))
    reloaded = known_by_id.where("record_type = 'change' and event_id <> message_event_id")
    return (
        known_by_id.withColumns({"delivery_id": delivery_id, "is_former": F.lit(False)})
        .unionByName(
            reloaded.withColumns(
                {"delivery_id": F.col("message_event_id"), "is_former": F.lit(True)}
            )
        )
        .where("delivery_id is not null")
        .withColumn("delivery_hash", F.xxhash64("source_format", "delivery_id"))
    )


def _redeliveries(new: DataFrame | None, deliveries: DataFrame) -> DataFrame:
    """Return the deliveries that share their id with a new delivery, and did not land first.

    The order of the landing commits says which delivery was first; it is the same in every run.
    Hashes find the few ids that occur more than once. `new`: None if all deliveries are new.
    """
    if new is None:
        hashes = deliveries.groupBy("delivery_hash").count().where("count > 1")
    else:
        hashes = new.select("delivery_hash").distinct()
        new = new.where("not is_former")
    of_one_id = Window.partitionBy("source_format", "delivery_id")
    redeliveries = (
        deliveries.join(hashes, "delivery_hash", "left_semi")
        .withColumn("first_landing", F.min("landing").over(of_one_id))
        .where("landing > first_landing and not is_former")
    )
    return _with_revisions(redeliveries, new).select(
        "*",
        F.lit("redelivery").alias("exception"),
        _keys("row_key", "previous_row_key"),
        F.lit(None).cast("string").alias("old_row_key"),
    )


def _with_earlier_keys(redeliveries: DataFrame, earlier: DataFrame) -> DataFrame:
    """Add the keys (`row_keys`) that an earlier run found for these records.

    It found them as halves of split updates.
    """
    split = earlier.where("exception = 'split_update'").select(
        *_RECORD, F.col("row_keys").alias("earlier_keys")
    )
    keys = F.array_union("row_keys", F.coalesce("earlier_keys", F.array().cast("array<string>")))
    return redeliveries.join(split, [*_RECORD], "left").withColumn("row_keys", keys)


def _halves(records: DataFrame) -> DataFrame:
    return (
        records.where(is_of_format_that("splits_updates"))
        .where("pairing_id is not null")
        .withColumn("is_before", F.col("record_type") == "update_before")
        .withColumn("takes_columns", takes_columns_of_half())
        .withColumn("pairing_hash", F.xxhash64("source_format", "pairing_id"))
    )


def _split_updates(new: DataFrame | None, halves: DataFrame) -> DataFrame:
    """Return the `update_after` records of updates that only both halves describe.

    Such an update changed the key of its row, or its table has no key. Only pairs with a new half
    are returned. Few pairs have two keys, and hashes show which pairs may. `new`: None if all
    halves are new.
    """
    if new is not None:
        halves = halves.join(new.select("pairing_hash").distinct(), "pairing_hash", "left_semi")
    key_hash = F.xxhash64("row_key")
    with_two_keys = (
        halves.groupBy("pairing_hash")
        .agg(
            F.bool_or("is_before").alias("has_before"),
            F.bool_and("is_before").alias("lacks_after"),
            F.bool_or("is_keyless").alias("is_keyless"),
            F.min(key_hash).alias("one_key"),
            F.max(key_hash).alias("other_key"),
        )
        .where("has_before and not lacks_after and (is_keyless or one_key <> other_key)")
        .select("pairing_hash")
    )
    halves_with_two_keys = halves.join(with_two_keys, "pairing_hash", "left_semi")
    before = (
        halves_with_two_keys.where("is_before")
        .groupBy("source_format", "pairing_id")
        .agg(F.min_by("row_key", "landing").alias("old_row_key"))
    )
    after = halves_with_two_keys.where("not is_before").join(
        before, ["source_format", "pairing_id"]
    )
    return (
        _with_revisions(after, new)
        .where("is_keyless or row_key <> old_row_key")
        .withColumn("filled_key", filled_row_key("row_key", "old_row_key", "takes_columns"))
        .select(
            "*",
            F.lit("split_update").alias("exception"),
            _keys("row_key", "old_row_key", "filled_key"),
        )
    )


def _replacements(records: DataFrame) -> DataFrame:
    return records.select(
        "*",
        F.lit("replacement").alias("exception"),
        _keys("row_key", "previous_row_key"),
        F.lit(None).cast("string").alias("old_row_key"),
        F.lit(True).alias("is_revision"),
    )


def _with_revisions(records: DataFrame, new: DataFrame | None) -> DataFrame:
    """Add `is_revision`: whether an earlier run has read the record."""
    if new is None:
        return records.withColumn("is_revision", F.lit(False))
    read_now = new.select(*_RECORD, F.lit(True).alias("is_new"))
    return records.join(read_now, [*_RECORD], "left").withColumn(
        "is_revision", F.col("is_new").isNull()
    )


def _keys(*names: str) -> Column:
    return F.array_distinct(F.array_compact(F.array(*names))).alias("row_keys")


def _without_earlier(found: DataFrame, earlier: DataFrame) -> DataFrame:
    return found.join(earlier, [*_RECORD, "exception"], "left_anti")


def _union(*found: DataFrame) -> DataFrame:
    return reduce(DataFrame.unionByName, (rows.select(*_COLUMNS) for rows in found))
