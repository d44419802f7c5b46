"""Inserts that waited for the delete of their key, and so have a lower log position than it.

PostgreSQL logs an insert before it checks whether its key is unique. If another transaction has not
yet decided about the row of this key, the insert waits. Then this transaction may log more changes
of the row, and at last delete it. CDL publishes transactions in the order of their commits: the
insert stands behind the delete, and was committed later, but has a lower log position.

An older insert that is merely delivered late looks the same, except for its time: that of the
commit of its transaction. So an insert without a later time stays where its log position says.

A key change is an insert on its new key and a delete on its old one.

Source: PostgreSQL, `ExecInsert` (the row is written before its index entries); Debezium,
`PostgresStreamingChangeEventSource` (`source.ts_ms` is the time of the commit).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.checkpoints import broadcast_if_few, checkpointed
from cdc_marts.fold.ranges import ahead_of, behind_loads, has_key_of
from cdc_marts.identifying_columns import KEY, MESSAGE

#: A key in a partition.
_KEY_IN_PARTITION = (*KEY, "topic", "partition")


def waiting_inserts(new_records: DataFrame, records: DataFrame | None) -> DataFrame:
    """Return the messages of the inserts that waited for a delete, with the position behind it.

    One row per insert and delete of which at least one is new.

    `new_records`: the records that no run has read; `records`: all records, including the new ones;
    None in the first run, in which all records are new. Both have the columns of
    `int_commit_ordered_records`.

    The result has source_format, topic, partition, offset, position and `is_revision`: whether an
    earlier run has read the message.
    """
    new_inserts = _inserts(new_records)
    all_records = new_records if records is None else records
    deletes = checkpointed(_deletes(all_records.where(ahead_of(new_inserts))))
    found = _waited(new_inserts, deletes).withColumn("is_revision", F.lit(False))
    if records is None:
        return found
    new_deletes = checkpointed(_deletes(new_records))
    read_before = _inserts(records.where(_is_behind(new_deletes))).join(
        new_inserts, [*MESSAGE], "left_anti"
    )
    found_before = _waited(read_before, new_deletes)
    return found.unionByName(found_before.withColumn("is_revision", F.lit(True)))


def _inserts(records: DataFrame) -> DataFrame:
    """Return the inserts, and the key changes on their new keys."""
    is_insert = (F.col("op") == "insert") | F.col("previous_row_key").isNotNull()
    return _changes(records.where(is_insert), F.col("row_key"))


def _deletes(records: DataFrame) -> DataFrame:
    """Return the deletes, and the key changes on their old keys."""
    key = F.when(F.col("op") == "delete", F.col("row_key")).otherwise(F.col("previous_row_key"))
    return _changes(records.where((F.col("op") == "delete") | key.isNotNull()), key)


def _changes(records: DataFrame, key: Column) -> DataFrame:
    return records.where(
        "record_type = 'change' and not is_keyless and message_position is not null"
    ).select(
        "source_format",
        "table_id",
        key.alias("row_key"),
        "topic",
        "partition",
        "offset",
        "message_position",
        "event_at",
        "transaction_id",
    )


def _is_behind(deletes: DataFrame) -> Column:
    return behind_loads(
        deletes.withColumnsRenamed({"offset": "first_offset", "message_position": "load_position"})
    )


def _waited(inserts: DataFrame, deletes: DataFrame) -> DataFrame:
    """Return the inserts that waited for one of the deletes, with the position behind it.

    `deletes`: a checkpoint.
    """
    waited_for = broadcast_if_few(deletes).alias("deleted")
    is_of_key = [
        F.col(f"inserted.{name}") == F.col(f"deleted.{name}") for name in _KEY_IN_PARTITION
    ]
    waited = (
        (F.col("inserted.offset") > F.col("deleted.offset"))
        & (F.col("inserted.message_position") < F.col("deleted.message_position"))
        & (F.col("inserted.event_at") > F.col("deleted.event_at"))
        & ~F.col("inserted.transaction_id").eqNullSafe(F.col("deleted.transaction_id"))
    )
    return (
        inserts.where(has_key_of(deletes, "row_key"))
        .alias("inserted")
        .join(waited_for, is_of_key)
        .where(waited)
        .select(
            *(F.col(f"inserted.{name}") for name in MESSAGE),
            (F.col("deleted.message_position") + 1).cast("decimal(38,0)").alias("position"),
        )
    )
